/* SPDX-License-Identifier: Apache-2.0 */

/* What threads did when, and single events: see states.h and entries.h, which write it. */

const RUNNING = 0, RUNNABLE = 1, BLOCKED = 2, UNKNOWN = 3, STATES = 4;
const STATE_NAMES = ["running", "runnable", "blocked", "unknown"];
const MARKS_MAX = 100000;

/* Of a lane: four bytes a slice, 255 where all of it was so; null where nothing is known. */
function readLane({ number }, nrSlices) {
    const shares = new Uint8Array(nrSlices * STATES);
    let left = number(), at = 0;
    if (!left)
        return null;
    for (; left > 0; left--) {
        const count = number(), isAlive = number();
        const own = isAlive ? [number(), number(), number(), number()] : [0, 0, 0, 0];
        for (const end = at + count; at < end; at++)
            shares.set(own, at * STATES);
    }
    return shares;
}

function readStates(packed, data) {
    const wider = packed.number(), nrSlices = Math.floor(data.nrSlices / 2 ** wider) + 1;
    return { sliceNs: data.sliceNs * 2 ** wider, nrSlices,
             lanes: data.threads.map(() => readLane(packed, nrSlices)) };
}

const listOf = (id) => Array.from(document.querySelectorAll(`#${id} > li`));

/* Where single events are too many: of each kind and lane a count a slice, or null. */
function readDensity({ number, fill }, data, kinds) {
    const wider = number(), nrSlices = Math.floor(data.nrSlices / 2 ** wider) + 1;
    const counts = kinds.map(() => data.threads.map(() =>
        number() ? fill(new Uint32Array(nrSlices), 0, nrSlices, number) : null));
    return { sliceNs: data.sliceNs * 2 ** wider, nrSlices, counts };
}

/* Single events: a row each, in the order of their streams; a target stands behind its origin. */
function readMarks(packed, data, streams, kinds) {
    const { number, signed } = packed, nrAll = number(), hasMore = number() === 1, rows = [];
    const density = nrAll > MARKS_MAX ? readDensity(packed, data, kinds) : null;
    for (let stream = 0; stream < streams.length; stream++) {
        for (let left = number(), time = 0; left > 0; left--) {
            time += signed();
            const kind = number(), lane = number() - 1, tid = number();
            const mark = { stream, time, kind, lane, tid, cpu: number() - 1, info: number() - 1 };
            mark.origin = kinds[kind].isTarget ? rows.length - 1 : -1;
            rows.push(mark);
        }
    }
    return { nrAll, hasMore, density, rows };
}

/* Null where the recording has none. */
function readSched(data) {
    const block = byId("sched");
    if (!block)
        return null;
    const packed = unpack(block.textContent);
    const streams = listOf("streams").map((item) => ({
        path: item.textContent,
        pid: Number(item.dataset.pid),
        isOn: item.dataset.on === "1",
        nrKinds: Number(item.dataset.kinds),
    }));
    const kinds = listOf("kinds").map((item) => ({
        name: item.textContent,
        isTarget: item.dataset.target === "1",
        isShown: true,
    }));
    const infos = listOf("infos").map((item) => item.textContent);
    const sched = { states: readStates(packed, data), streams, kinds, infos,
                    ...readMarks(packed, data, streams, kinds) };
    block.remove();
    return sched;
}
