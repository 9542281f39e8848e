/* SPDX-License-Identifier: Apache-2.0 */

/* The rows of the timeline and their names: processes and their threads, those with most weight
 * first. Knows no times. */

/* With more threads processes are closed at first, with more cores these. */
const OPEN_MAX = 60, CORES_OPEN_MAX = 16;

class Rows {
    /* `on`: { choose(threads, isMore), changed() } */
    constructor(model, sched, on) {
        Object.assign(this, { model, sched, on });
        this.box = byId("lane-names");
        this.isOpen = new Map();
        this.list = [];
        this.box.addEventListener("click", (event) => this.clicked(event));
        this.box.addEventListener("dblclick", (event) => this.open(this.rowOf(event.target)));
        this.box.addEventListener("keydown", (event) => this.pressed(event));
    }

    /* After the event changed. */
    build() {
        const { data, event } = this.model;
        this.groups = new Map(data.groups.filter((group) => group.event === event)
            .map((group) => [group.thread, group]));
        this.weights = new Map([...this.groups].map(([thread, { weight }]) =>
            [thread, weight.reduce((sum, one) => sum + one, 0)]));
        const ran = this.ranShares(), { weights } = this;
        const threads = [...weights.keys()].sort((a, b) =>
            weights.get(b) - weights.get(a) || ran[b] - ran[a] || a - b);
        this.processes = this.byProcess(threads);
        this.show();
    }

    /* Threads that are known to have lived have a row, whatever the event; how long they ran. */
    ranShares() {
        const ran = new Float64Array(this.model.data.threads.length);
        this.sched?.states.lanes.forEach((shares, thread) => {
            if (!shares)
                return;
            for (let i = RUNNING; i < shares.length; i += STATES)
                ran[thread] += shares[i];
            if (!this.weights.has(thread))
                this.weights.set(thread, 0);
        });
        return ran;
    }

    byProcess(threads) {
        const { data } = this.model, processes = new Map();
        for (const thread of threads) {
            const { side, image, count } = data.threads[thread];
            const key = count > 1 || !data.hasProcesses ? `thread ${thread}` : `${side} ${image}`;
            if (!processes.has(key))
                processes.set(key, { key, threads: [], weight: 0 });
            processes.get(key).threads.push(thread);
            processes.get(key).weight += this.weights.get(thread);
        }
        for (const { key } of processes.values()) {
            if (!this.isOpen.has(key))
                this.isOpen.set(key, threads.length <= OPEN_MAX);
        }
        return [...processes.values()].sort((a, b) => b.weight - a.weight);
    }

    /* After a process was opened or closed. */
    show() {
        this.list = this.processes.flatMap(({ key, threads }) => threads.length === 1
            ? [{ key, threads, level: 1 }]
            : [{ key, threads, level: 1, isOpen: this.isOpen.get(key) },
               ...(this.isOpen.get(key) ? threads.map((thread) =>
                   ({ key: `thread ${thread}`, threads: [thread], level: 2 })) : [])]);
        if (this.sched?.rows.some(({ lane }) => lane < 0))
            this.list.push({ key: "others", threads: [-1], level: 1 });
        if (this.cores?.ofCore.size) {
            const isOpen = this.isOpen.get("cores") ?? this.cores.ofCore.size <= CORES_OPEN_MAX;
            this.isOpen.set("cores", isOpen);
            this.list.push({ key: "cores", threads: [], level: 1, isOpen });
            for (const core of isOpen ? this.cores.ofCore.keys() : [])
                this.list.push({ key: `core ${core}`, threads: [], core, level: 2 });
        }
        this.indexOf = new Map(this.list.flatMap(({ threads }, i) =>
            threads.map((thread) => [thread, i])));
        this.box.replaceChildren(...this.list.map((row, i) => this.nameOf(row, i)));
    }

    nameOf(row, index) {
        const name = element("div", `lane level${row.level}`, ""), [thread] = row.threads;
        name.setAttribute("role", "treeitem");
        name.setAttribute("aria-level", row.level);
        name.tabIndex = index ? -1 : 0;
        if (row.isOpen !== undefined) {
            name.setAttribute("aria-expanded", String(row.isOpen));
            name.append(element("i", "", row.isOpen ? "▾ " : "▸ "));
        }
        if (!(thread >= 0)) {
            name.classList.add("others");
            name.append(row.threads.length ? "other threads" : row.key);
            return name;
        }
        const [title, small, whole] = this.words(row);
        name.append(title, element("small", "", ` ${small}`));
        name.title = whole;
        name.setAttribute("aria-selected", "false");
        return name;
    }

    /* What a row is called, what stands smaller behind that, and all there is to say. */
    words({ threads, isOpen }) {
        const { data } = this.model;
        const { comm, tid, pid, process, side, count, image } = data.threads[threads[0]];
        const where = data.isDiff ? (side ? "after " : "before ") : "";
        const known = data.images.get(`${side} ${image}`), command = known?.command ?? process;
        const short = shortCommand(known?.name ?? process);
        if (count > 1)
            return [comm, `${where}${count} threads`,
                    `${count} threads${comm && ` called ${comm}`}, too many to be shown each`];
        const whole = `${comm}, thread ${tid} of ${process} (${pid})`;
        if (isOpen !== undefined)
            return [short, `${where}${pid}, ${threads.length} threads`,
                    `${command}\nprocess ${pid}, ${threads.length} threads`];
        if (!data.hasProcesses)
            return [comm, `${where}${tid}`, whole];
        return this.processes.some((one) => one.threads.length === 1 && one.threads[0] === threads[0])
            ? [short, `${where}${pid}`, `${command}\n${whole}`] : [comm, `${where}${tid}`, whole];
    }

    rowOf(target) {
        return this.list[[...this.box.children].indexOf(target.closest(".lane"))];
    }

    clicked(event) {
        const row = this.rowOf(event.target);
        if (event.target.matches("i"))
            this.open(row);
        else if (row?.threads[0] >= 0)
            this.on.choose(row.threads, event.ctrlKey || event.metaKey);
    }

    open(row, isOpen) {
        if (row?.isOpen === undefined || row.isOpen === isOpen)
            return;
        this.isOpen.set(row.key, !row.isOpen);
        this.show();
        this.on.changed();
        this.box.children[this.list.findIndex(({ key }) => key === row.key)].focus();
    }

    pressed(event) {
        const row = this.rowOf(event.target), index = this.list.indexOf(row);
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step)
            this.box.children[index + step]?.focus();
        else if (event.key === "ArrowRight" || event.key === "ArrowLeft")
            this.open(row, event.key === "ArrowRight");
        else if ((event.key === "Enter" || event.key === " ") && row?.threads[0] >= 0)
            this.on.choose(row.threads, true);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    mark(chosen) {
        this.list.forEach(({ threads }, i) => threads[0] >= 0 &&
            this.box.children[i].setAttribute("aria-selected", String(threads.every((one) => chosen.has(one)))));
    }
}
