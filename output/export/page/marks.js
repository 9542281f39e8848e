/* SPDX-License-Identifier: Apache-2.0 */

/* Single events on the lanes of the timeline, the list of their kinds, and the settings of
 * couplebreak: which streams show the targets of switches and wakings. */

const MARK_REACH = 4; /* pixels from the pointer */

class Marks {
    /* `on`: { draw(), selected(), say(text), reveal(mark) }. */
    constructor(sched, data, on) {
        Object.assign(this, { sched, data, on });
        this.chosen = -1;
        this.hovered = -1;
        this.found = null;
        byId("kinds-bar").hidden = false;
        byId("couplebreak").hidden = false;
        byId("kinds-note").textContent = this.howMany();
        this.makeKinds();
        this.makeDialog();
        this.select();
        byId("couplebreak").addEventListener("click", () => byId("couplebreak-box").showModal());
    }

    howMany() {
        const { nrAll, hasMore, rows } = this.sched;
        if (!nrAll)
            return "no single events";
        return rows.length ? ""
            : `${hasMore ? "at least " : ""}${grouped(nrAll)} events, shown by how many there are: single ones with --time=A..B`;
    }

    isOn(mark) {
        return mark.origin < 0 || this.sched.streams[mark.stream].isOn;
    }

    /* After what is shown has changed: the marks of each lane in the order of time. */
    select() {
        const { rows, kinds } = this.sched;
        this.ofLane = new Map();
        this.wokenBy = new Map();
        this.counts = new Uint32Array(kinds.length);
        this.sched.density?.counts.forEach((lanes, kind) => lanes.forEach((counts) =>
            counts?.forEach((count) => { this.counts[kind] += count; })));
        const put = (lists, lane, i) => lists.get(lane)?.push(i) ?? lists.set(lane, [i]);
        rows.forEach((mark, i) => {
            if (mark.origin >= 0 && this.isShown(mark.origin) && this.isWaking(mark.origin))
                put(this.wokenBy, mark.lane, mark.origin);
            if (!this.isOn(mark))
                return;
            this.counts[mark.kind]++;
            if (kinds[mark.kind].isShown)
                put(this.ofLane, mark.lane, i);
        });
        for (const list of [...this.ofLane.values(), ...this.wokenBy.values()])
            list.sort((a, b) => rows[a].time - rows[b].time || a - b);
        if (this.chosen >= 0 && !this.isShown(this.chosen))
            this.chosen = -1;
        this.hovered = -1;
        this.showKinds();
        this.on.draw();
        this.on.selected();
    }

    isShown(index) {
        const mark = this.sched.rows[index];
        return this.isOn(mark) && this.sched.kinds[mark.kind].isShown;
    }

    /* A target's origin, or an origin's target; -1 where there is none, or it is not shown. */
    twinOf(index) {
        const { rows } = this.sched;
        const twin = rows[index].origin >= 0 ? rows[index].origin : this.targetOf(index);
        return twin >= 0 && this.isShown(twin) ? twin : -1;
    }

    isWaking(index) {
        return /sched_wak/.test(this.sched.kinds[this.sched.rows[index].kind].name);
    }

    /* The row of the one whom a waking, or a thread that leaves the core, gives way to; -1: none. */
    targetOf(index) {
        return this.sched.rows[index + 1]?.origin === index ? index + 1 : -1;
    }

    /* A name to click, a box to hide it. */
    makeKinds() {
        const { kinds } = this.sched;
        byId("kind-list").replaceChildren(...kinds.map((kind, i) => {
            const item = element("span", "kind"), box = element("input"), name = element("button", "", kind.name);
            item.style.setProperty("--mark", this.colour(i));
            box.type = "checkbox";
            box.checked = kind.isShown;
            box.setAttribute("aria-label", `show ${kind.name}`);
            box.addEventListener("change", () => {
                kind.isShown = box.checked;
                this.select();
            });
            name.type = "button";
            name.title = "Go to the next of these events";
            name.addEventListener("click", () => this.goToKind(i));
            item.append(box, name, element("small"));
            return item;
        }));
    }

    /* How many there are of each; those that do not occur are not listed. */
    showKinds() {
        [...byId("kind-list").children].forEach((item, i) => {
            item.hidden = !this.counts[i];
            item.classList.toggle("match", Boolean(this.found?.[i]));
            item.querySelector("small").textContent = ` ${grouped(this.counts[i])}`;
        });
    }

    colour(kind) {
        const hue = [265, 150, 200, 330, 25, 95][kind % 6];
        return `hsl(${hue} 65% var(--mark-light))`;
    }

    /* Kinds whose name matches stand out; how many events that are. */
    search(pattern) {
        const { kinds } = this.sched;
        this.found = pattern && kinds.map((kind) => pattern.test(kind.name));
        this.showKinds();
        this.on.draw();
        return this.found ? this.counts.reduce((sum, count, i) => sum + (this.found[i] ? count : 0), 0) : 0;
    }

    goToKind(kind) {
        const shown = this.sched.rows.map((_, i) => i)
            .filter((i) => this.sched.rows[i].kind === kind && this.isShown(i))
            .sort((a, b) => this.sched.rows[a].time - this.sched.rows[b].time || a - b);
        if (shown.length)
            this.choose(shown[(shown.indexOf(this.chosen) + 1) % shown.length]);
    }

    /* The next one of the chosen one's lane, or of the first lane that has any. */
    step(by, list) {
        const first = list.flatMap(({ threads }) => threads).find((lane) => this.ofLane.has(lane));
        const lane = this.chosen >= 0 ? this.sched.rows[this.chosen].lane : first;
        const marks = this.ofLane.get(lane);
        if (!marks)
            return;
        const at = marks.indexOf(this.chosen);
        this.choose(marks[at < 0 ? 0 : Math.max(0, Math.min(at + by, marks.length - 1))]);
    }

    choose(index) {
        this.chosen = index;
        if (index >= 0) {
            this.on.reveal(this.sched.rows[index]);
            this.on.say(this.describe(index).join(", "));
        }
        this.on.draw();
    }

    /* The first of a list that is not before that time. */
    firstFrom(list, time) {
        const { rows } = this.sched;
        let low = 0, high = list.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (rows[list[middle]].time < time)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The nearest of the lanes at that time, within so many ns, or the waking of one of their
     * threads; -1: none. */
    nearest(lanes, time, reach) {
        const distance = (i) => Math.abs(this.sched.rows[i].time - time);
        for (const lists of [this.ofLane, this.wokenBy]) {
            const near = lanes.flatMap((lane) => {
                const list = lists.get(lane) ?? [], at = this.firstFrom(list, time);
                return list.slice(Math.max(at - 1, 0), at + 1);
            }).filter((i) => distance(i) <= reach).sort((a, b) => distance(a) - distance(b));
            if (near.length)
                return near[0];
        }
        return -1;
    }

    taskOf({ lane, tid }) {
        const thread = this.data.threads[lane];
        return thread && thread.count === 1 ? `${thread.comm}-${tid}` : String(tid);
    }

    describe(index) {
        const { rows, kinds, infos } = this.sched, mark = rows[index], twin = this.twinOf(index);
        const lines = [kinds[mark.kind].name,
                       `${moment(this.data.startNs + mark.time, 1)}, ${this.taskOf(mark)}, core ${mark.cpu < 0 ? "unknown" : mark.cpu}`];
        if (mark.info >= 0)
            lines.push(infos[mark.info]);
        if (twin >= 0)
            lines.push(`${rows[index].origin >= 0 ? "origin" : "target"}: ${kinds[rows[twin].kind].name} of ${this.taskOf(rows[twin])}, core ${rows[twin].cpu < 0 ? "unknown" : rows[twin].cpu}`);
        else if (this.isWaking(index) && this.targetOf(index) >= 0)
            lines.push(`wakes ${this.taskOf(rows[index + 1])}`);
        return lines;
    }

    /* `yOf(thread)`: the upper edge of its lane, or NaN; `xOf(ns)`: may be outside of the screen. */
    paint(context, list, yOf, xOf, style) {
        context.save();
        for (const { threads, isOpen } of list)
            for (const thread of isOpen ? [] : threads) {
                this.paintDensity(context, thread, yOf(thread), xOf);
                this.paintLane(context, this.ofLane.get(thread) ?? [], yOf(thread), xOf);
            }
        context.restore();
        for (const index of new Set([this.chosen, this.hovered]))
            if (index >= 0)
                this.paintPair(context, index, yOf, xOf, style);
    }

    /* One tick a kind and pixel: what is drawn is bounded by the screen, not by the events. */
    paintLane(context, list, y, xOf) {
        const { rows, kinds } = this.sched, last = new Int32Array(kinds.length).fill(-1);
        const nsOfPixel = 1 / (xOf(1) - xOf(0)), begin = -xOf(0) * nsOfPixel;
        const end = begin + context.canvas.clientWidth * nsOfPixel;
        for (let at = this.firstFrom(list, begin); at < list.length && rows[list[at]].time <= end; at++) {
            const { kind, time } = rows[list[at]], x = Math.round(xOf(time));
            if (x === last[kind])
                continue;
            last[kind] = x;
            context.globalAlpha = this.found && !this.found[kind] ? 0.15 : 0.9;
            context.fillStyle = this.inks[kind];
            context.fillRect(x, y + LANE - 7, 1, 6);
        }
    }

    /* The more of them in a slice, the darker; the most of its kind and lane are darkest. */
    paintDensity(context, lane, y, xOf) {
        const { density, kinds } = this.sched, wide = density && xOf(density.sliceNs) - xOf(0);
        kinds.forEach(({ isShown }, kind) => {
            const counts = density?.counts[kind][lane];
            if (!isShown || !counts)
                return;
            const most = counts.reduce((a, b) => Math.max(a, b), 1);
            const first = Math.max(0, Math.floor(-xOf(0) / wide));
            const end = Math.min(counts.length, first + context.canvas.clientWidth / wide + 2);
            context.fillStyle = this.inks[kind];
            for (let i = first; i < end; i++) {
                context.globalAlpha = (this.found && !this.found[kind] ? 0.15 : 0.9) * (0.2 + 0.8 * counts[i] / most);
                if (counts[i])
                    context.fillRect(xOf(i * density.sliceNs), y + LANE - 7, Math.max(wide, 1), 6);
            }
        });
    }

    /* How many events of each kind there are in those lanes at that time. */
    describeDensity(lanes, time) {
        const { density, kinds } = this.sched, at = density && Math.floor(time / density.sliceNs);
        return !density ? [] : kinds.flatMap(({ name, isShown }, kind) => {
            const count = lanes.reduce((sum, lane) => sum + (density.counts[kind][lane]?.[at] ?? 0), 0);
            return isShown && count ? [`${grouped(count)} ${name} in ${duration(density.sliceNs)}`] : [];
        });
    }

    /* The event and its twin, or whom it woke: an arrow from the one to the other. */
    paintPair(context, index, yOf, xOf, style) {
        const { rows } = this.sched, { origin } = rows[index];
        const pair = origin >= 0 ? [this.twinOf(index), index] : [index, this.targetOf(index)];
        const points = pair.filter((i) => i >= 0 && !Number.isNaN(yOf(rows[i].lane)))
            .map((i) => [Math.round(xOf(rows[i].time)), yOf(rows[i].lane) + LANE / 2]);
        context.strokeStyle = context.fillStyle = style.getPropertyValue("--accent");
        context.lineWidth = 1.5;
        context.beginPath();
        for (const [x, y] of points)
            context.lineTo(x, y);
        context.stroke();
        const [[x, y], [toX, toY] = [x, y]] = points.length ? points : [[NaN, NaN]];
        context.fillRect(x - 2, y - 4, 4, 8);
        const back = toY > y ? -7 : 7;
        context.beginPath();
        context.moveTo(toX, toY);
        if (toY !== y)
            [-4, 4].forEach((aside) => context.lineTo(toX + aside, toY + back));
        context.fill();
    }

    /* Colours as the theme has them. */
    setInks(style) {
        const light = style.getPropertyValue("--mark-light");
        this.inks = this.sched.kinds.map((_, i) => this.colour(i).replace("var(--mark-light)", light));
    }

    makeDialog() {
        const { streams } = this.sched;
        byId("stream-list").replaceChildren(...streams.map((stream) => {
            const label = element("label"), box = element("input");
            box.type = "checkbox";
            box.checked = stream.isOn;
            box.disabled = !stream.nrKinds;
            box.addEventListener("change", () => {
                stream.isOn = box.checked;
                this.select();
                this.on.say(`couplebreak ${box.checked ? "on" : "off"}`);
            });
            label.append(box, ` ${stream.path} (pid ${stream.pid})`);
            if (!stream.nrKinds)
                label.append(element("small", "", " no couples: neither sched_switch nor sched_waking"));
            return label;
        }));
        if (!streams.length)
            byId("stream-list").textContent = `No stream is in this page: ${this.howMany()}`;
    }
}
