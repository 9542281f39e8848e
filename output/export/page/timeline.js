/* SPDX-License-Identifier: Apache-2.0 */

/* Threads over time: a lane each, how busy it was; a span of time is chosen by dragging. */

const LANE = 18;

class Timeline {
    /* `on`: { span(from, to), threads(set or null), say(text), tip(event, lines or null) }; slices are
     * counted from 0. `sched`: see readSched. */
    constructor(model, sched, on) {
        Object.assign(this, { model, sched, on });
        this.marks = null;
        const isKnown = Boolean(sched?.states.lanes.some(Boolean));
        this.hasStates = isKnown;
        this.pane = byId("lanes");
        this.canvas = byId("lane-canvas");
        this.space = byId("lane-space");
        this.brush = byId("brush");
        this.chosen = new Set();
        this.draw = perFrame(() => this.paint());
        this.pane.addEventListener("scroll", this.draw, { passive: true });
        this.canvas.addEventListener("pointerdown", (event) => this.pressedAt(event));
        this.canvas.addEventListener("pointermove", (event) => this.dragged(event));
        this.canvas.addEventListener("pointerup", (event) => this.released(event));
        this.canvas.addEventListener("pointerleave", () => this.hoverAt(null));
        byId("lane-pick").hidden = byId("state-legend").hidden = !isKnown;
        byId("lane-kind").addEventListener("change", (event) => {
            this.hasStates = event.target.value === "states";
            this.draw();
        });
        this.canvas.addEventListener("keydown", (event) => this.pressed(event));
        byId("whole").addEventListener("click", () => this.setSpan(0, model.data.nrSlices));
        byId("all").addEventListener("click", () => this.chooseThreads(new Set()));
        new ResizeObserver(perFrame(() => this.update())).observe(this.space);
    }

    /* After the event changed. */
    setEvent() {
        const { data, event } = this.model;
        const weights = new Map();
        this.groups = new Map();
        for (const group of data.groups) {
            if (group.event !== event)
                continue;
            this.groups.set(group.thread, group);
            weights.set(group.thread, group.weight.reduce((sum, weight) => sum + weight, 0));
        }
        const ran = this.ranShares(weights);
        this.lanes = [...weights.keys()].sort((a, b) =>
            weights.get(b) - weights.get(a) || ran[b] - ran[a] || a - b);
        if (this.sched?.rows.some(({ lane }) => lane < 0))
            this.lanes.push(-1);
        this.loads = new Map();
        this.parts = new Map();
        this.makeNames();
        this.chooseThreads(new Set());
        this.update();
    }

    /* Threads that are known to have lived have a lane, whatever the event; how long they ran. */
    ranShares(weights) {
        const ran = new Float64Array(this.model.data.threads.length);
        this.sched?.states.lanes.forEach((shares, thread) => {
            if (!shares)
                return;
            for (let i = RUNNING; i < shares.length; i += STATES)
                ran[thread] += shares[i];
            if (!weights.has(thread))
                weights.set(thread, 0);
        });
        return ran;
    }

    makeNames() {
        const names = byId("lane-names");
        names.replaceChildren(...this.lanes.map((thread, index) => {
            if (thread < 0)
                return element("div", "lane others", "other threads");
            const { comm, tid, pid, process, side, count } = this.model.data.threads[thread];
            const name = element("div", "lane", comm);
            const where = this.model.data.isDiff ? (side ? "after " : "before ") : "";
            const of = this.model.data.hasProcesses ? ` of ${process} ${pid}` : "";
            name.append(element("small", "", ` ${where}${count > 1 ? `${count} threads` : tid}${of}`));
            name.title = count > 1 ? `${count} threads${comm && ` called ${comm}`}, too many to be shown each`
                : `${comm}, thread ${tid} of ${process} (${pid})`;
            name.setAttribute("role", "option");
            name.setAttribute("aria-selected", "false");
            name.tabIndex = index ? -1 : 0;
            name.addEventListener("click", (event) => this.toggle(thread, event.ctrlKey || event.metaKey));
            name.addEventListener("keydown", (event) => this.pressedName(event, index));
            return name;
        }));
    }

    pressedName(event, index) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const names = byId("lane-names").children;
        if (event.key === "Enter" || event.key === " ")
            this.toggle(this.lanes[index], true);
        else if (step)
            names[index + step]?.focus();
        else
            return;
        event.preventDefault();
    }

    toggle(thread, isMore) {
        const chosen = new Set(isMore ? this.chosen : []);
        if (!this.chosen.has(thread) || (!isMore && this.chosen.size > 1))
            chosen.add(thread);
        else
            chosen.delete(thread);
        this.chooseThreads(chosen);
    }

    chooseThreads(chosen) {
        this.chosen = chosen;
        this.lanes.forEach((thread, i) => {
            byId("lane-names").children[i].setAttribute("aria-selected", String(chosen.has(thread)));
        });
        byId("all").hidden = !chosen.size;
        this.on.threads(chosen.size ? chosen : null);
        this.draw();
    }

    update() {
        if (!this.lanes)
            return;
        this.space.style.height = `${(this.lanes.length + 1) * LANE}px`;
        this.loads.clear();
        this.parts.clear();
        this.paint();
    }

    /* Pixels of a bar: as many as four samples of a busy thread take, so that no gaps show. */
    barWidth(width) {
        const { data, event } = this.model, columnNs = data.nrSlices * data.sliceNs / width;
        if (data.events[event]?.unit !== "ns" || !this.lanes.length)
            return 2;
        const { weight, samples } = this.groups.get(this.lanes[0]) ?? {};
        if (!weight)
            return 2;
        return Math.max(1, Math.min(16, Math.ceil(4 * weight[0] / samples[0] / columnNs)));
    }

    /* Weight per bar of the screen. */
    loadOf(thread, nrBars) {
        let load = this.loads.get(thread);
        if (!load) {
            const { slice, weight, count } = this.groups.get(thread) ?? { count: 0 };
            const scale = nrBars / this.model.data.nrSlices;
            load = new Float64Array(nrBars);
            /* Slices wider than a bar are spread over their bars. */
            for (let i = 0; i < count; i++) {
                const from = Math.min(Math.floor(slice[i] * scale), nrBars - 1);
                const to = Math.max(Math.floor((slice[i] + 1) * scale), from + 1);
                for (let bar = from; bar < to && bar < nrBars; bar++)
                    load[bar] += weight[i] / (to - from);
            }
            this.loads.set(thread, load);
        }
        return load;
    }

    /* Threads that share a lane may have run at once. */
    fullLoadOf(thread, nrBars, full) {
        if (thread < 0 || this.model.data.threads[thread].count === 1)
            return full;
        return this.loadOf(thread, nrBars).reduce((a, b) => Math.max(a, b), full);
    }

    /* What a full bar weighs: its time for clocks, the greatest seen for others. */
    fullLoad(lanes, nrBars) {
        const { data, event } = this.model;
        if (data.events[event]?.unit === "ns")
            return data.nrSlices * data.sliceNs / nrBars;
        return lanes.reduce((most, thread) =>
            this.loadOf(thread, nrBars).reduce((a, b) => Math.max(a, b), most), 1);
    }

    paint() {
        const width = this.space.clientWidth;
        const height = Math.min(this.pane.clientHeight, this.space.clientHeight);
        if (!width || !height || !this.lanes)
            return;
        const context = prepare(this.canvas, width, height);
        const scroll = this.pane.scrollTop, style = getComputedStyle(document.body);
        const first = Math.max(0, Math.floor(scroll / LANE) - 1);
        const lanes = this.lanes.slice(first, first + Math.ceil(height / LANE) + 1);
        context.clearRect(0, 0, width, height);
        const nrBars = Math.ceil(width / this.barWidth(width));
        const full = this.fullLoad(lanes, nrBars);
        const yOf = (lane) => {
            const at = lanes.indexOf(lane);
            return at < 0 ? undefined : (first + at + 1) * LANE - scroll;
        };
        lanes.forEach((thread) => {
            const isQuiet = this.chosen.size && !this.chosen.has(thread);
            context.globalAlpha = isQuiet ? 0.3 : 1;
            context.fillStyle = style.getPropertyValue("--bar");
            if (this.hasStates)
                this.paintStates(context, thread, width, yOf(thread), style);
            else
                this.paintLane(context, this.loadOf(thread, nrBars),
                               this.fullLoadOf(thread, nrBars, full), width, yOf(thread));
        });
        context.globalAlpha = 1;
        if (this.marks) {
            this.marks.setInks(style);
            this.marks.paint(context, lanes, yOf, width, style);
        }
        this.paintAxis(context, width, style);
        this.placeBrush(width);
    }

    paintLane(context, load, full, width, y) {
        const wide = width / load.length;
        for (let bar = 0; bar < load.length; bar++) {
            if (!load[bar])
                continue;
            const high = Math.max(1.5, Math.min(load[bar] / full, 1) * (LANE - 4));
            context.fillRect(bar * wide, y + LANE - 2 - high, wide, high);
        }
    }

    /* Shares of the states in each pixel, as slices are spread over them. */
    partsOf(thread, width) {
        const shares = this.sched.states.lanes[thread];
        let parts = this.parts.get(thread);
        if (parts || !shares)
            return parts;
        const { sliceNs, nrSlices } = this.sched.states, { data } = this.model;
        const scale = width * sliceNs / (data.nrSlices * data.sliceNs), least = Math.min(scale, 1);
        parts = new Float64Array(width * STATES);
        for (let i = 0; i < nrSlices; i++) {
            const from = i * scale, to = from + scale;
            for (let x = Math.floor(from); x < to && x < width; x++) {
                const inside = Math.min(to, x + 1) - Math.max(from, x);
                for (let state = 0; least > 0 && state < STATES; state++)
                    parts[x * STATES + state] += shares[i * STATES + state] / 255 * inside;
            }
        }
        this.parts.set(thread, parts);
        return parts;
    }

    /* From below: running, runnable, unknown, blocked. */
    paintStates(context, thread, width, y, style) {
        const parts = thread < 0 ? null : this.partsOf(thread, Math.ceil(width));
        if (!parts)
            return;
        const inks = STATE_NAMES.map((name) => style.getPropertyValue(`--${name}`));
        for (let x = 0; x < parts.length / STATES; x++) {
            let below = 0;
            for (const state of [RUNNING, RUNNABLE, UNKNOWN, BLOCKED]) {
                const high = Math.min(parts[x * STATES + state], 1 - below) * (LANE - 4);
                context.fillStyle = inks[state];
                if (high > 0)
                    context.fillRect(x, y + LANE - 2 - below * (LANE - 4) - high, 1, high);
                below += high / (LANE - 4);
            }
        }
    }

    paintAxis(context, width, style) {
        const { nrSlices, sliceNs, startNs } = this.model.data;
        const whole = nrSlices * sliceNs;
        const step = [1, 2, 5, 10].map((n) => n * 10 ** Math.floor(Math.log10(whole / 8)))
            .find((n) => n >= whole / 10) ?? whole;
        context.fillStyle = style.getPropertyValue("--panel");
        context.fillRect(0, 0, width, LANE - 2);
        context.fillStyle = style.getPropertyValue("--faint");
        context.font = "10.5px system-ui, sans-serif";
        context.textBaseline = "middle";
        for (let at = Math.ceil(startNs / step) * step; at < startNs + whole; at += step) {
            const x = (at - startNs) / whole * width;
            context.fillRect(x, 0, 1, LANE - 4);
            if (x < width - 50)
                context.fillText(!at ? "0" : duration(at).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " "), x + 4, LANE / 2 - 2);
        }
    }

    placeBrush(width) {
        const { from, to, data } = this.model;
        const isWhole = from === 0 && to === data.nrSlices;
        this.brush.hidden = isWhole;
        byId("whole").hidden = isWhole;
        this.brush.style.left = `${from / data.nrSlices * width}px`;
        this.brush.style.width = `${Math.max((to - from) / data.nrSlices * width, 2)}px`;
    }

    setSpan(from, to) {
        const { nrSlices } = this.model.data;
        const least = Math.max(0, Math.min(from, nrSlices - 1));
        const most = Math.min(nrSlices, Math.max(to, least + 1));
        if (least === this.model.from && most === this.model.to)
            return;
        this.on.span(least, most);
        this.draw();
    }

    sliceAt(event) {
        const box = this.canvas.getBoundingClientRect();
        return (event.clientX - box.left) / box.width * this.model.data.nrSlices;
    }

    pressedAt(event) {
        if (event.button)
            return;
        this.anchor = this.sliceAt(event);
        this.anchorX = event.clientX;
        this.canvas.setPointerCapture(event.pointerId);
    }

    /* What is under the pointer: its lane, time, and a single event that is near. */
    at(event) {
        const box = this.canvas.getBoundingClientRect(), { data } = this.model;
        const row = Math.floor((event.clientY - box.top + this.pane.scrollTop) / LANE) - 1;
        const nsOfPixel = data.nrSlices * data.sliceNs / box.width;
        const time = (event.clientX - box.left) * nsOfPixel, lane = this.lanes?.[row];
        const mark = lane === undefined || !this.marks ? -1
            : this.marks.nearest(lane, time, MARK_REACH * nsOfPixel);
        return { lane, time, mark };
    }

    hoverAt(event) {
        const { lane, time, mark } = event ? this.at(event) : { mark: -1 };
        if (this.marks && this.marks.hovered !== mark) {
            this.marks.hovered = mark;
            this.draw();
        }
        this.on.tip(event, !event || lane === undefined ? null
            : mark >= 0 ? this.marks.describe(mark) : this.describeAt(lane, time));
    }

    /* The shares of the thread's states there; null where there is nothing to say. */
    describeAt(lane, time) {
        const shares = this.hasStates && lane >= 0 && this.sched.states.lanes[lane];
        const { sliceNs } = this.sched?.states ?? {};
        const at = Math.floor(time / sliceNs) * STATES;
        const lines = shares ? STATE_NAMES.map((name, i) => [name, shares[at + i]])
            .filter(([, share]) => share).map(([name, share]) => `${name} ${percent(share / 255)}`) : [];
        const { comm, tid } = this.model.data.threads[lane] ?? {};
        const from = Math.floor(time / sliceNs) * sliceNs + this.model.data.startNs;
        return lines.length ? [`${comm} ${tid}`, `${duration(from)}, ${duration(sliceNs)} long`, ...lines] : null;
    }

    released(event) {
        const isClick = this.anchor !== undefined && Math.abs(event.clientX - this.anchorX) < 3;
        this.anchor = undefined;
        if (isClick && this.marks)
            this.marks.choose(this.at(event).mark);
    }

    dragged(event) {
        if (this.anchor === undefined)
            this.hoverAt(event);
        if (this.anchor === undefined || Math.abs(event.clientX - this.anchorX) < 3)
            return;
        const at = this.sliceAt(event);
        this.setSpan(Math.floor(Math.min(at, this.anchor)), Math.ceil(Math.max(at, this.anchor)));
    }

    pressed(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (this.marks && (event.key === "n" || event.key === "p"))
            this.marks.step(event.key === "n" ? 1 : -1, this.lanes);
        if (!step)
            return;
        const { from, to, data } = this.model;
        const isWhole = from === 0 && to === data.nrSlices;
        const size = isWhole ? Math.ceil(data.nrSlices / 10) : to - from;
        const by = step * Math.max(1, Math.round(size / 4));
        if (isWhole)
            this.setSpan(0, size);
        else if (event.shiftKey)
            this.setSpan(from, Math.max(to + by, from + 1));
        else
            this.setSpan(...(from + by < 0 ? [0, size] : to + by > data.nrSlices ?
                [data.nrSlices - size, data.nrSlices] : [from + by, to + by]));
        this.on.say(this.describe());
        event.preventDefault();
    }

    describe() {
        const { from, to, data: { nrSlices, sliceNs, startNs } } = this.model;
        if (from === 0 && to === nrSlices)
            return `${duration(nrSlices * sliceNs)} in slices of ${duration(sliceNs)}; drag to choose a span`;
        const moment = (slice) => duration(startNs + slice * sliceNs);
        return `${moment(from)} to ${moment(to)} (${duration((to - from) * sliceNs)})`;
    }
}
