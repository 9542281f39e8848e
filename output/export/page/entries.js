/* SPDX-License-Identifier: Apache-2.0 */

/* The list of single events: those of the chosen threads, kinds and time, and, where something is
 * searched, those that it is found in. Only rows in sight are made. */

const ENTRY = 20;

class Entries {
    /* `on`: { choose(index) }. */
    constructor(marks, on) {
        Object.assign(this, { marks, on });
        this.pane = byId("entries");
        this.list = [];
        this.draw = perFrame(() => this.paint());
        this.pane.addEventListener("scroll", this.draw, { passive: true });
        this.pane.addEventListener("click", ({ target }) => target.closest(".entry") &&
            this.on.choose(Number(target.closest(".entry").dataset.index)));
        this.pane.addEventListener("keydown", (event) => this.pressed(event));
        new ResizeObserver(this.draw).observe(this.pane);
    }

    /* `threads`: a set, or null for all; `pattern`: null for all. */
    select(threads, from, to, pattern) {
        const { marks } = this, { rows, infos, kinds } = marks.sched;
        const found = pattern && infos.map((info) => pattern.test(info));
        const isFound = (mark, i) => !pattern || pattern.test(kinds[mark.kind].name) ||
            found[mark.info] || pattern.test(marks.taskOf(rows[i]));
        this.list = [...rows.keys()].filter((i) => marks.isShown(i) && rows[i].time >= from &&
            rows[i].time <= to && (!threads || threads.has(rows[i].lane)) && isFound(rows[i], i));
        this.list.sort((a, b) => rows[a].time - rows[b].time || a - b);
        this.draw();
    }

    paint() {
        const { pane, list } = this, first = Math.max(0, Math.floor(pane.scrollTop / ENTRY) - 5);
        if (pane.hidden)
            return;
        const space = element("div");
        space.style.height = `${(list.length + 2) * ENTRY}px`;
        const shown = list.slice(first, first + Math.ceil(pane.clientHeight / ENTRY) + 10);
        const note = element("p", "", this.marks.howMany() || `${grouped(list.length)} events of the chosen ` +
                             "threads, kinds and time; a click shows one in the timeline");
        pane.replaceChildren(note, space, ...shown.map((index, i) => this.line(index, first + i)));
    }

    line(index, at) {
        const { marks } = this, { rows, kinds, infos } = marks.sched, mark = rows[index];
        const line = element("div", "entry");
        line.style.top = `${(at + 1.7) * ENTRY}px`;
        line.dataset.index = index;
        line.setAttribute("role", "option");
        line.setAttribute("aria-selected", String(index === marks.chosen));
        line.append(...[moment(marks.data.startNs + mark.time, 1), marks.taskOf(mark),
                        mark.cpu < 0 ? "?" : String(mark.cpu), kinds[mark.kind].name, infos[mark.info] ?? ""]
            .map((text) => element("span", "", text)));
        return line;
    }

    pressed(event) {
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
        if (!step || !this.list.length)
            return;
        const at = this.list.indexOf(this.marks.chosen) + step;
        this.on.choose(this.list[Math.max(0, Math.min(at, this.list.length - 1))]);
        event.preventDefault();
    }

    /* The chosen one comes into sight. */
    reveal() {
        const top = (this.list.indexOf(this.marks.chosen) + 1) * ENTRY, { pane } = this;
        if (top && (top < pane.scrollTop || top + 2 * ENTRY > pane.scrollTop + pane.clientHeight))
            pane.scrollTop = top - pane.clientHeight / 2;
        this.draw();
    }
}
