/* SPDX-License-Identifier: Apache-2.0 */

/* What was recorded: names from the document, numbers from the packed block (see numbers.h). */

function unpack(text) {
    const raw = atob(text.trim());
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    let at = 0;
    /* Multiplies above 28 bits: shifts would cut at 32. */
    const number = () => {
        let byte = bytes[at++], value = byte & 0x7f, shift = 7;
        for (; byte > 0x7f && shift < 28; shift += 7) {
            byte = bytes[at++];
            value |= (byte & 0x7f) << shift;
        }
        for (let scale = 2 ** 28; byte > 0x7f; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 0x7f) * scale;
        }
        return value;
    };
    const signed = () => {
        const value = number();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    const fill = (array, from, count, next) => {
        for (let i = from; i < from + count; i++)
            array[i] = next(i);
        return array;
    };
    return { number, signed, fill };
}

function readNumbers(packed) {
    const { number, signed, fill } = packed;
    const data = { sliceNs: 2 ** number(), nrSlices: number(), startNs: signed(),
                   isDiff: number() === 1, runs: [number(), number()], nrRuns: [number(), number()] };
    const nrFunctions = number();
    data.flags = fill(new Uint8Array(nrFunctions), 0, nrFunctions, number);
    data.module = fill(new Uint32Array(nrFunctions), 0, nrFunctions, number);
    const nrNodes = number() + 1;
    data.parent = fill(new Uint32Array(nrNodes), 1, nrNodes - 1, (i) => i - number());
    data.fn = fill(new Uint32Array(nrNodes), 1, nrNodes - 1, number);
    const nrLeaves = number();
    data.leafNode = new Uint32Array(nrLeaves);
    for (let i = 0, node = 0; i < nrLeaves; i++)
        data.leafNode[i] = node += signed();
    data.groups = readGroups(packed);
    return data;
}

/* A group: the cells of one event and one thread. */
function readGroups({ number, fill }) {
    const groups = [];
    for (let left = number(); left > 0; left--) {
        const event = number(), thread = number(), count = number(), period = number();
        const leaf = new Uint32Array(count), slice = new Uint16Array(count);
        for (let i = 0, last = 0; i < count; i++)
            leaf[i] = last += number();
        for (let i = 0; i < count; i++)
            slice[i] = number() + (i && leaf[i] === leaf[i - 1] ? slice[i - 1] : 0);
        const samples = fill(new Uint32Array(count), 0, count, () => number() + 1);
        const weight = fill(new Float64Array(count), 0, count,
                            period ? (i) => samples[i] * period : number);
        /* Of each sample's weight; where they differ, by the weight of the mean unit of it. */
        const squares = fill(new Float64Array(count), 0, count,
                             (i) => weight[i] * (period || number()));
        groups.push({ event, thread, count, leaf, slice, samples, weight, squares });
    }
    return groups;
}

function readDocument(data) {
    const texts = (selector) => Array.from(document.querySelectorAll(selector));
    data.rows = texts("#list .r:not(.head)");
    data.names = data.rows.map((row) => row.firstChild.textContent);
    data.modules = texts("#modules > li").map((item) => item.textContent);
    data.bases = data.modules.map((path) => path.slice(path.lastIndexOf("/") + 1) || path);
    data.events = texts("#event > option").map((option) => ({
        name: option.textContent,
        unit: option.dataset.unit,
    }));
    data.threads = texts("#threads > li").map((item) => ({
        comm: item.textContent,
        side: Number(item.dataset.side),
        tid: Number(item.dataset.tid),
        pid: Number(item.dataset.pid),
        count: Number(item.dataset.count),
        run: Number(item.dataset.run),
        process: item.dataset.process,
        image: Number(item.dataset.image),
    }));
    data.images = new Map(texts("#images > li").map((item) =>
        [`${item.dataset.side} ${item.dataset.number}`,
         { command: item.textContent, name: item.dataset.name }]));
    data.hasProcesses = new Set(data.threads.map(({ side, image }) => `${side} ${image}`)).size >
        new Set(data.threads.map(({ side }) => side)).size;
    return data;
}

const PSEUDO = 1, KERNEL = 2, INLINED = 8;

/* Where a function is, and what is special about it. */
function whereIs(data, fn) {
    const words = [data.modules[data.module[fn]]];
    if (data.flags[fn] & KERNEL)
        words.push("(kernel)");
    if (data.flags[fn] & INLINED)
        words.push("(inlined)");
    return words.filter(Boolean).join(" ");
}

/* Of each function what it spent itself by line, in the whole recording; empty where nothing is
 * known. */
function readLines() {
    const block = document.getElementById("lines"), lines = new Map();
    if (!block)
        return lines;
    const { number } = unpack(block.textContent);
    const files = Array.from(document.querySelectorAll("#files > li"), (item) => item.textContent);
    for (let left = number(), file = -1; left > 0; left--) {
        const fn = number(), event = number();
        file += number();
        const line = { event, place: `${files[file].replace(/^.*\//, "")}:`, file: files[file], line: number(), weight: number() };
        lines.set(fn, [...lines.get(fn) ?? [], line]);
    }
    block.remove();
    return lines;
}

function readData() {
    const block = document.getElementById("numbers");
    const data = readDocument(readNumbers(unpack(block.textContent)));
    block.remove();
    data.lines = readLines();
    return data;
}
