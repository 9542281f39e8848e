/* SPDX-License-Identifier: Apache-2.0 */

/* Who was on which core when, as the single events of switches say. */

class Cores {
    /* ofCore: of each core { from, to, lane, tid } in the order of time. */
    constructor(sched, data) {
        this.data = data;
        this.ofCore = new Map();
        const { rows, kinds } = sched;
        const isOf = (pattern) => (mark) => pattern.test(kinds[mark.kind].name) && mark.cpu >= 0;
        const comes = rows.filter(isOf(/^switch-in$/)), goes = rows.filter(isOf(/^switch-out$/));
        const targets = comes.length ? [] : rows.filter(isOf(/sched_switch\[target\]$/));
        const byTime = (a, b) => a.time - b.time;
        for (const mark of [...comes, ...targets].sort(byTime))
            this.begin(mark);
        for (const mark of goes.sort(byTime))
            this.end(mark);
        this.ofCore = new Map([...this.ofCore].sort(([a], [b]) => a - b));
    }

    /* Up to the next one that comes in there. */
    begin({ time, cpu, lane, tid }) {
        const spans = this.ofCore.get(cpu) ?? [], last = spans.at(-1);
        if (last)
            last.to = time;
        spans.push({ from: time, to: this.data.nrSlices * this.data.sliceNs, lane, tid });
        this.ofCore.set(cpu, spans);
    }

    end({ time, cpu, tid }) {
        const spans = this.ofCore.get(cpu) ?? [], span = spans[Cores.before(spans, time)];
        if (span?.tid === tid)
            span.to = Math.min(span.to, time);
    }

    /* Which one was the last to begin before that time. */
    static before(spans, time) {
        let low = 0, high = spans.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (spans[middle].from < time)
                low = middle + 1;
            else
                high = middle;
        }
        return low - 1;
    }

    /* At most one rectangle a pixel; nobody's (tid 0) is idle. */
    paint(context, core, y, xOf, chosen) {
        const spans = this.ofCore.get(core), perNs = xOf(1) - xOf(0), alpha = context.globalAlpha;
        const width = context.canvas.clientWidth;
        let drawn = -1;
        for (let i = Math.max(0, Cores.before(spans, -xOf(0) / perNs)); i < spans.length; i++) {
            const { from, to, lane, tid } = spans[i], left = xOf(from), right = xOf(to);
            if (left > width)
                break;
            if (!tid || right < drawn)
                continue;
            context.globalAlpha = alpha * (chosen.size && !chosen.has(lane) ? 0.25 : 1);
            context.fillStyle = `hsl(${(137.5 * tid % 360).toFixed(0)} 50% 55%)`;
            context.fillRect(Math.max(left, 0), y + 2, Math.max(Math.min(right, width) - Math.max(left, 0), 1), LANE - 4);
            drawn = Math.floor(Math.max(left, 0)) + 1;
        }
        context.globalAlpha = alpha;
    }

    describe(core, time, nameOf) {
        const spans = this.ofCore.get(core), span = spans[Cores.before(spans, time)];
        if (!span || span.to < time || !span.tid)
            return [`core ${core}`, "nobody that was recorded"];
        return [`core ${core}: ${nameOf(span)}`,
                `${moment(this.data.startNs + span.from, 1)}, ${duration(span.to - span.from)} long`];
    }
}
