/* SPDX-License-Identifier: Apache-2.0 */

/* Threads over time: a lane a row, how busy it was or what it did; a span of time is chosen by
 * dragging, and shown wider. */

const LANE = 18, WHEEL = 1.0015;

class Timeline {
    /* `on`: { span(from, to), threads(set or null), view(), say(text), tip(event, lines or null) };
     * slices are counted from 0. `sched`: see readSched. */
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
        this.view = new View(model.data);
        this.rows = new Rows(model, sched, {
            choose: (threads, isMore) => this.toggle(threads, isMore),
            changed: () => this.update(),
        });
        this.draw = perFrame(() => this.paint());
        this.pane.addEventListener("scroll", this.draw, { passive: true });
        this.canvas.addEventListener("pointerdown", (event) => this.pressedAt(event));
        this.canvas.addEventListener("pointermove", (event) => this.dragged(event));
        this.canvas.addEventListener("pointerup", (event) => this.released(event));
        this.canvas.addEventListener("pointerleave", () => this.hoverAt(null));
        this.canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
        this.canvas.addEventListener("dblclick", () => this.zoom());
        byId("lane-pick").hidden = byId("state-legend").hidden = !isKnown;
        byId("lane-kind").addEventListener("change", (event) => {
            this.hasStates = event.target.value === "states";
            this.draw();
        });
        this.canvas.addEventListener("keydown", (event) => this.pressed(event));
        byId("zoom-time").addEventListener("click", () => this.zoom());
        byId("whole").addEventListener("click", () => this.showWhole());
        byId("all").addEventListener("click", () => this.chooseThreads(new Set()));
        new ResizeObserver(perFrame(() => this.update())).observe(this.space);
    }

    /* After the event changed. */
    setEvent() {
        this.rows.build();
        this.chooseThreads(new Set());
        this.update();
    }

    /* A choice of less than all of a row's threads becomes all of them, of all of them none. */
    toggle(threads, isMore) {
        const isOn = threads.every((thread) => this.chosen.has(thread));
        const isAlone = isOn && this.chosen.size === threads.length;
        const chosen = new Set(isMore ? this.chosen : []);
        for (const thread of threads) {
            if (isMore ? isOn : isAlone)
                chosen.delete(thread);
            else
                chosen.add(thread);
        }
        this.chooseThreads(chosen);
    }

    chooseThreads(chosen) {
        this.chosen = chosen;
        this.rows.mark(chosen);
        byId("all").hidden = !chosen.size;
        this.on.threads(chosen.size ? chosen : null);
        this.draw();
    }

    threadsAsText() {
        return [...this.chosen].map((thread) => this.model.data.threads[thread].tid).join(",");
    }

    chooseByText(text) {
        const tids = new Set(text.split(",").filter(Boolean).map(Number));
        this.chooseThreads(new Set([...this.rows.weights.keys()]
            .filter((thread) => tids.has(this.model.data.threads[thread].tid))));
    }

    /* After what the rows are, or how wide they are, changed. */
    update() {
        this.rows.mark(this.chosen);
        this.space.style.height = `${(this.rows.list.length + 1) * LANE}px`;
        this.forget();
        this.paint();
    }

    forget() {
        this.loads = new Map();
        this.parts = new Map();
    }

    /* Pixels of a bar: as many as four samples of a busy thread take, so that no gaps show. */
    barWidth(width) {
        const { data, event } = this.model, columnNs = this.view.size / width;
        const first = this.rows.list.find(({ threads }) => this.rows.groups.has(threads[0]));
        if (data.events[event]?.unit !== "ns" || !first)
            return 2;
        const { weight, samples } = this.rows.groups.get(first.threads[0]);
        return Math.max(1, Math.min(16, Math.ceil(4 * weight[0] / samples[0] / columnNs)));
    }

    /* Weight per bar of the screen; slices wider than a bar are spread over their bars. */
    loadOf(row, nrBars) {
        let load = this.loads.get(row.key);
        if (load)
            return load;
        load = new Float64Array(nrBars);
        const { from, size } = this.view, { sliceNs } = this.model.data, scale = nrBars / size;
        for (const thread of row.threads) {
            const { slice, weight, count } = this.rows.groups.get(thread) ?? { count: 0 };
            for (let i = 0; i < count; i++) {
                const first = Math.floor((slice[i] * sliceNs - from) * scale);
                const end = Math.max(Math.floor(((slice[i] + 1) * sliceNs - from) * scale), first + 1);
                for (let bar = Math.max(first, 0); bar < end && bar < nrBars; bar++)
                    load[bar] += weight[i] / (end - first);
            }
        }
        this.loads.set(row.key, load);
        return load;
    }

    /* Threads that share a lane may have run at once. */
    fullLoadOf({ threads }, load, full) {
        if (threads.length <= 1 && !(this.model.data.threads[threads[0]]?.count > 1))
            return full;
        return load.reduce((a, b) => Math.max(a, b), full);
    }

    /* What a full bar weighs: its time for clocks, the greatest seen for others. */
    fullLoad(rows, nrBars) {
        const { data, event } = this.model;
        if (data.events[event]?.unit === "ns")
            return this.view.size / nrBars;
        return rows.reduce((most, row) =>
            this.loadOf(row, nrBars).reduce((a, b) => Math.max(a, b), most), 1);
    }

    paint() {
        const width = this.space.clientWidth;
        const height = Math.min(this.pane.clientHeight, this.space.clientHeight);
        if (!width || !height || !this.loads)
            return;
        const context = prepare(this.canvas, width, height);
        const scroll = this.pane.scrollTop, style = getComputedStyle(document.body);
        const first = Math.max(0, Math.floor(scroll / LANE) - 1);
        const rows = this.rows.list.slice(first, first + Math.ceil(height / LANE) + 1);
        context.clearRect(0, 0, width, height);
        const nrBars = Math.ceil(width / this.barWidth(width));
        const full = this.fullLoad(rows, nrBars);
        rows.forEach((row, i) => {
            const isQuiet = this.chosen.size && row.threads.length && !row.threads.some((one) => this.chosen.has(one));
            const y = (first + i + 1) * LANE - scroll;
            context.globalAlpha = isQuiet ? 0.3 : 1;
            context.fillStyle = style.getPropertyValue("--bar");
            if (row.core !== undefined)
                this.rows.cores.paint(context, row.core, y, (ns) => this.view.placeOf(ns) * width, this.chosen);
            else if (this.hasStates)
                this.paintStates(context, row, width, y, style);
            else
                this.paintLane(context, row, this.loadOf(row, nrBars), full, width, y);
        });
        context.globalAlpha = 1;
        if (this.marks) {
            const yOf = (thread) => (this.rows.indexOf.get(thread) + 1) * LANE - scroll;
            this.marks.setInks(style);
            this.marks.paint(context, rows, yOf, (ns) => this.view.placeOf(ns) * width, style);
        }
        this.paintAxis(context, width, style);
        this.placeBrush(width);
    }

    paintLane(context, row, load, least, width, y) {
        const wide = width / load.length, full = this.fullLoadOf(row, load, least);
        for (let bar = 0; bar < load.length; bar++) {
            if (!load[bar])
                continue;
            const high = Math.max(1.5, Math.min(load[bar] / full, 1) * (LANE - 4));
            context.fillRect(bar * wide, y + LANE - 2 - high, wide, high);
        }
    }

    /* Shares of the states in each pixel, as slices are spread over them; of several threads, of all
     * that they lived there. */
    partsOf(row, width) {
        let parts = this.parts.get(row.key);
        if (parts)
            return parts;
        parts = new Float64Array(width * STATES);
        for (const thread of row.threads)
            this.addParts(this.sched.states.lanes[thread], parts, width);
        for (let at = 0; row.threads.length > 1 && at < parts.length; at += STATES) {
            const sum = parts[at] + parts[at + 1] + parts[at + 2] + parts[at + 3];
            for (let state = 0; sum > 1 && state < STATES; state++)
                parts[at + state] /= sum;
        }
        this.parts.set(row.key, parts);
        return parts;
    }

    addParts(shares, parts, width) {
        const { sliceNs, nrSlices } = this.sched.states, scale = width / this.view.size;
        const begin = Math.max(0, Math.floor(this.view.from / sliceNs));
        for (let i = begin; shares && i < nrSlices && i * sliceNs < this.view.to; i++) {
            const from = (i * sliceNs - this.view.from) * scale, to = from + sliceNs * scale;
            for (let x = Math.max(Math.floor(from), 0); x < to && x < width; x++) {
                const inside = Math.min(to, x + 1) - Math.max(from, x);
                for (let state = 0; state < STATES; state++)
                    parts[x * STATES + state] += shares[i * STATES + state] / 255 * inside;
            }
        }
    }

    /* From below: running, runnable, unknown, blocked. */
    paintStates(context, row, width, y, style) {
        const parts = this.partsOf(row, Math.ceil(width));
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
        const { startNs } = this.model.data, { from, to, size } = this.view;
        const step = [1, 2, 5, 10].map((n) => n * 10 ** Math.floor(Math.log10(size / 8)))
            .find((n) => n >= size / 10) ?? size;
        context.fillStyle = style.getPropertyValue("--panel");
        context.fillRect(0, 0, width, LANE - 2);
        context.fillStyle = style.getPropertyValue("--faint");
        context.font = "10.5px system-ui, sans-serif";
        context.textBaseline = "middle";
        for (let at = Math.ceil((startNs + from) / step) * step; at < startNs + to; at += step) {
            const x = this.view.placeOf(at - startNs) * width;
            context.fillRect(x, 0, 1, LANE - 4);
            if (x < width - 50)
                context.fillText(moment(at, step), x + 4, LANE / 2 - 2);
        }
    }

    placeBrush(width) {
        const { view } = this, left = Math.max(view.placeOf(view.chosenFrom), 0);
        const right = Math.min(view.placeOf(view.chosenTo), 1);
        this.brush.hidden = !view.hasChoice || right < 0 || left > 1;
        byId("zoom-time").hidden = !view.hasChoice;
        byId("whole").hidden = !view.hasChoice && view.isWhole;
        this.brush.style.left = `${left * width}px`;
        this.brush.style.width = `${Math.max((right - left) * width, 2)}px`;
    }

    setSpan(from, to) {
        if (!this.view.choose(from, to))
            return;
        this.on.span(...this.view.slices());
        this.draw();
    }

    /* What is chosen becomes as wide as the screen. */
    zoom() {
        this.show(this.view.chosenFrom, this.view.chosenTo);
    }

    show(from, to) {
        this.view.show(from, to);
        this.forget();
        this.on.view();
        this.draw();
    }

    showWhole() {
        this.setSpan(0, this.view.whole);
        this.show(0, this.view.whole);
    }

    /* Around the middle of what is chosen, where that is on the screen. */
    widen(times, at) {
        const { from, to, chosenFrom, chosenTo } = this.view, middle = (chosenFrom + chosenTo) / 2;
        this.view.widen(times, at ?? (middle > from && middle < to ? middle : (from + to) / 2));
        this.show(this.view.from, this.view.to);
    }

    move(times) {
        this.view.move(this.view.size * times);
        this.show(this.view.from, this.view.to);
    }

    /* A single event comes into sight. */
    reveal({ time, lane }) {
        const { from, to, size } = this.view, top = (this.rows.indexOf.get(lane) + 1) * LANE;
        if (time < from || time > to)
            this.show(time - size / 2, time + size / 2);
        if (top < this.pane.scrollTop + LANE || top + LANE > this.pane.scrollTop + this.pane.clientHeight)
            this.pane.scrollTop = top - this.pane.clientHeight / 2;
    }

    /* With Ctrl, as a pinch is too, time gets wider or narrower; across, or with Shift, it moves. */
    wheeled(event) {
        const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
        if (event.ctrlKey || event.metaKey)
            this.widen(WHEEL ** event.deltaY, this.nsAt(event));
        else if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY))
            this.move(across / this.space.clientWidth);
        else
            return;
        event.preventDefault();
    }

    spanAsText() {
        return this.view.hasChoice ? this.asText(this.view.chosenFrom, this.view.chosenTo) : "";
    }

    viewAsText() {
        return this.view.isWhole ? "" : this.asText(this.view.from, this.view.to);
    }

    /* As --time takes it. */
    asText(from, to) {
        const seconds = (ns) => `${Number((Math.max(this.model.data.startNs + ns, 0) / 1e9).toFixed(9))}s`;
        return `${seconds(from)}..${seconds(to)}`;
    }

    /* All, where the text is no span. */
    readSpan(text) {
        const [, from, to] = /^([\d.]+)s\.\.([\d.]+)s$/.exec(text) ?? [];
        const nsOf = (seconds) => Math.round(Number(seconds) * 1e9 - this.model.data.startNs);
        return Number(from) < Number(to) ? [nsOf(from), nsOf(to)] : [0, this.view.whole];
    }

    nsAt(event) {
        const box = this.canvas.getBoundingClientRect();
        return this.view.from + (event.clientX - box.left) / box.width * this.view.size;
    }

    pressedAt(event) {
        if (event.button)
            return;
        this.anchor = this.nsAt(event);
        this.anchorX = event.clientX;
        this.canvas.setPointerCapture(event.pointerId);
    }

    /* What is under the pointer: its row, time, and a single event that is near. */
    at(event) {
        const box = this.canvas.getBoundingClientRect();
        const index = Math.floor((event.clientY - box.top + this.pane.scrollTop) / LANE) - 1;
        const time = this.nsAt(event), row = this.rows.list[index];
        const mark = !row || !this.marks ? -1
            : this.marks.nearest(row.threads, time, MARK_REACH * this.view.size / box.width);
        return { row, time, mark };
    }

    hoverAt(event) {
        const { row, time, mark } = event ? this.at(event) : { mark: -1 };
        if (this.marks && this.marks.hovered !== mark) {
            this.marks.hovered = mark;
            this.draw();
        }
        this.on.tip(event, !row ? null : mark >= 0 ? this.marks.describe(mark) : this.describeAt(row, time));
    }

    /* The shares of the states of the row's threads there; null where there is nothing to say. */
    describeAt(row, time) {
        if (row.core !== undefined)
            return this.rows.cores.describe(row.core, time, (span) => this.marks.taskOf(span));
        const { sliceNs } = this.sched?.states ?? {}, at = Math.floor(time / sliceNs) * STATES;
        const known = this.hasStates ? row.threads.map((thread) => this.sched.states.lanes[thread]).filter(Boolean) : [];
        const shares = STATE_NAMES.map((_, i) => known.reduce((sum, lane) => sum + lane[at + i], 0));
        const whole = Math.max(shares.reduce((sum, share) => sum + share, 0), 255);
        const lines = STATE_NAMES.map((name, i) => [name, shares[i]])
            .filter(([, share]) => share).map(([name, share]) => `${name} ${percent(share / whole)}`);
        lines.push(...this.marks?.describeDensity(row.threads, time) ?? []);
        const from = Math.floor(time / sliceNs) * sliceNs + this.model.data.startNs;
        return lines.length ? [this.rows.words(row).slice(0, 2).join(" "),
                               `${duration(Math.max(from, 0))}, ${duration(sliceNs)} long`, ...lines] : null;
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
        const at = this.nsAt(event);
        this.setSpan(Math.min(at, this.anchor), Math.max(at, this.anchor));
    }

    pressed(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (this.marks && (event.key === "n" || event.key === "p"))
            this.marks.step(event.key === "n" ? 1 : -1, this.rows.list);
        if (event.key === "Enter")
            this.zoom();
        if (!step)
            return;
        const { view } = this, { chosenFrom: from, chosenTo: to } = view;
        const size = view.hasChoice ? to - from : view.size / 10, by = step * size / 4;
        if (!view.hasChoice)
            this.setSpan(view.from, view.from + size);
        else if (event.shiftKey)
            this.setSpan(from, to + by);
        else
            this.setSpan(...(from + by < 0 ? [0, size] : to + by > view.whole
                ? [view.whole - size, view.whole] : [from + by, to + by]));
        this.on.say(this.describe());
        event.preventDefault();
    }

    describe() {
        const { chosenFrom: from, chosenTo: to, hasChoice, whole, sliceNs } = this.view;
        const { startNs } = this.model.data;
        if (!hasChoice)
            return `${duration(whole)} in slices of ${duration(sliceNs)}; drag to choose a span`;
        return `${duration(Math.max(startNs + from, 0))} to ${duration(startNs + to)} (${duration(to - from)})`;
    }
}
