/* SPDX-License-Identifier: Apache-2.0 */

/* Puts the parts together: what is chosen in one shows in all. */

const data = readData();
const model = new Model(data);
model.compute();
const colours = new Colours(model);
const say = (text) => { byId("live").textContent = text; };
let flame, table, tab = "functions";

const sched = readSched(data);
const timeline = new Timeline(model, sched, {
    span(from, to) {
        model.from = from;
        model.to = to;
        recompute();
    },
    view: () => fragment.write(),
    threads(threads) {
        model.threads = threads;
        recompute();
    },
    say,
    tip: showLines,
});
if (sched)
    timeline.marks = new Marks(sched, data, {
        draw: timeline.draw,
        say,
        selected: () => showEntries(),
        reveal(mark) {
            timeline.reveal(mark);
            entries.reveal();
        },
    });
timeline.rows.cores = sched && new Cores(sched, data);
const entries = sched && new Entries(timeline.marks, { choose: (index) => timeline.marks.choose(index) });
const sheets = new Sheets({ choose: (tid) => timeline.chooseByText(String(tid)) });
flame = new Flame(model, colours, { zoom, choose, say, tip: showTip });
table = new Table(model, { choose });

const recompute = perFrame(() => {
    model.compute();
    flame.update();
    table.update();
    showShare();
    showTotal();
    showEntries();
    byId("span").textContent = timeline.describe();
    fragment.write();
});

/* Of two recordings, what all of it changed by. */
function showTotal() {
    if (!data.isDiff)
        return;
    const whole = model.nodeChange(0), { before, after } = whole;
    byId("total").textContent = !model.isByRun ? "" : `all: ${model.amount(before)} → ${model.amount(after)} a run` +
        `${before ? `, × ${(after / before).toFixed(2)}` : ""}; ${describeChange(model, whole)}`;
}

/* ---- tables ---- */

function showEntries() {
    const { chosenFrom, chosenTo } = timeline.view;
    if (tab === "events")
        entries.select(model.threads, chosenFrom, chosenTo, pattern);
}

function makeTabs() {
    const titles = { functions: "Functions", events: "Events" };
    const names = ["functions", ...sheets.names(), ...(sched ? ["events"] : [])];
    byId("tabs").hidden = names.length < 2;
    byId("tabs").replaceChildren(...names.map((name, i) => {
        const button = element("button", "", titles[name] ?? SHEETS[name].title);
        button.type = "button";
        button.title = `Table ${i + 1} (${i + 1})`;
        button.dataset.name = name;
        button.setAttribute("role", "tab");
        button.addEventListener("click", () => showTab(name));
        return button;
    }));
    showTab(tab);
}

function showTab(name) {
    const buttons = [...byId("tabs").children];
    tab = buttons.some(({ dataset }) => dataset.name === name) ? name : "functions";
    for (const button of buttons)
        button.setAttribute("aria-selected", String(button.dataset.name === tab));
    byId("functions").hidden = tab !== "functions";
    byId("entries").hidden = tab !== "events";
    byId("data-table").hidden = !SHEETS[tab];
    if (SHEETS[tab])
        sheets.show(tab);
    showEntries();
    fragment.write();
}

/* Node 0 is chosen where the text names none: it has the node's number and its function's name. */
function nodeOf(text) {
    const [, node, name] = /^(\d+)\.(.*)$/.exec(text) ?? [];
    return data.names[data.fn[node]] === name && Number(node) || 0;
}

const fragment = new Fragment({
    event: {
        text: () => model.event ? data.events[model.event].name : "",
        show(text) {
            const event = Math.max(data.events.findIndex(({ name }) => name === text), 0);
            byId("event").value = String(event);
            if (event !== model.event)
                setEvent(event);
        },
    },
    width: {
        text: () => flame.side ? "" : "before",
        show: (text) => setSide(data.isDiff && text === "before" ? 0 : 1),
    },
    scale: {
        text: () => data.isDiff && !model.isByRun ? "share" : "",
        show: (text) => data.isDiff && setScale(text !== "share"),
    },
    thread: {
        text: () => timeline.threadsAsText(),
        show: (text) => timeline.chooseByText(text),
    },
    time: {
        text: () => timeline.spanAsText(),
        show: (text) => timeline.setSpan(...timeline.readSpan(text)),
    },
    view: {
        text: () => timeline.viewAsText(),
        show: (text) => timeline.show(...timeline.readSpan(text)),
    },
    zoom: {
        text: () => flame.zoom ? `${flame.zoom}.${flame.nameOf(flame.zoom)}` : "",
        show: (text) => zoom(nodeOf(text)),
    },
    function: {
        text: () => data.names[table.chosen] ?? "",
        show: (text) => choose(text ? data.names.indexOf(text) : -1),
    },
    table: {
        text: () => tab === "functions" ? "" : tab,
        show: showTab,
    },
    icicle: {
        text: () => flame.isIcicle ? "1" : "",
        show: (text) => Boolean(text) !== flame.isIcicle && flip(),
    },
    search: {
        text: () => byId("search").value,
        show(text) {
            byId("search").value = text;
            search();
        },
    },
});

function setSide(side) {
    if (side === flame.side)
        return;
    byId("width").value = String(side);
    flame.side = table.side = side;
    model.sortChildren(side);
    recompute();
}

function setScale(isByRun) {
    byId("scale").value = isByRun ? "run" : "share";
    model.isByRun = isByRun;
    recompute();
}

function setEvent(event) {
    model.event = event;
    model.threads = null;
    model.compute();
    model.sortChildren(flame.side);
    timeline.setEvent();
    recompute();
}

function zoom(node) {
    flame.zoom = node;
    fragment.write();
    byId("unzoom").disabled = node === 0;
    flame.update();
    say(`zoomed into ${flame.describe(node).join(", ")}`);
}

function choose(fn) {
    table.choose(fn);
    fragment.write();
}

function showTip(event, node) {
    showLines(event, node ? flame.describe(node) : null);
}

function showLines(event, texts) {
    const tip = byId("tip");
    tip.hidden = !texts;
    if (!texts)
        return;
    const [name, ...lines] = texts;
    tip.replaceChildren(element("b", "", name), ...lines.map((line) => element("div", "", line)));
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 6);
    const below = event.clientY + 16;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${below + box.height > window.innerHeight ? event.clientY - box.height - 10 : below}px`;
}

let pattern = null;

function search() {
    const input = byId("search");
    pattern = null;
    input.setCustomValidity("");
    try {
        pattern = input.value ? new RegExp(input.value, "i") : null;
    } catch (error) {
        input.setCustomValidity(error.message);
    }
    showShare();
    flame.draw();
    table.update();
    showEntries();
    fragment.write();
    if (pattern)
        table.pane.scrollTop = 0;
}

function showShare() {
    const found = pattern && model.search(pattern, flame.side);
    const output = byId("share");
    flame.matches = table.matches = found ? found.matches : null;
    output.textContent = found ? percent(found.share) : byId("search").validity.valid ? "" : "?";
    output.title = found ? `${found.nrMatches} functions match` : "";
    const nrMarks = timeline.marks?.search(pattern) ?? 0;
    if (found)
        say(`${found.nrMatches} functions match, ${percent(found.share)} of the samples` +
            (nrMarks ? `; ${grouped(nrMarks)} events` : ""));
}

/* The next drawn frame that matches, in reading order. */
function nextMatch() {
    if (!flame.matches)
        return;
    const drawn = flame.layout.rows.flatMap((row) => row.nodes)
        .filter((node) => node && flame.matches[data.fn[node]]);
    if (drawn.length)
        flame.walkTo(drawn[(drawn.indexOf(flame.cursor) + 1) % drawn.length]);
    flame.hover = flame.cursor;
}

function setTheme(isDark) {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    colours.setDark(isDark);
    showLegend();
    flame.draw();
    timeline.draw();
}

function flip() {
    flame.isIcicle = !flame.isIcicle;
    fragment.write();
    byId("flip").setAttribute("aria-pressed", String(flame.isIcicle));
    byId("flip").textContent = flame.isIcicle ? "Flame" : "Icicle";
    flame.update();
    flame.showRoots();
}

function showLegend() {
    const entry = (colour, text) => {
        const item = element("span"), swatch = element("i");
        swatch.style.background = colour;
        item.append(swatch, text);
        return item;
    };
    const modules = colours.modules.filter((module) => data.bases[module]).slice(0, 6);
    const entries = data.isDiff
        ? [entry(colours.ofChange(1, false), "more than before"),
           entry(colours.ofChange(-1, false), "less than before"),
           entry(colours.rest(), "within noise (≈)")]
        : modules.map((module) => entry(colours.ofModule(module), data.bases[module]));
    if (!data.isDiff && data.flags.some((flags) => flags & KERNEL))
        entries.push(entry(colours.kernel(), "kernel"));
    if (!data.isDiff && data.flags.some((flags) => flags & PSEUDO))
        entries.push(entry(colours.pseudo(), "[missing frames]"));
    byId("legend").replaceChildren(...entries);
    byId("state-legend").replaceChildren(
        ...STATE_NAMES.map((name) => entry(`var(--${name})`, name)));
}

function stepBack() {
    if (byId("search").value) {
        byId("search").value = "";
        search();
    } else if (timeline.marks?.chosen >= 0) {
        timeline.marks.choose(-1);
    } else if (flame.zoom) {
        zoom(0);
    } else if (timeline.chosen.size) {
        timeline.chooseThreads(new Set());
    } else {
        timeline.showWhole();
    }
}

/* Time as speedscope and Firefox Profiler have it: w and s, a and d. */
const KEYS = {
    "Escape": stepBack,
    "/": () => byId("search").focus(),
    "0": () => {
        zoom(0);
        timeline.show(0, timeline.view.whole);
    },
    "i": flip,
    "t": () => byId("theme").click(),
    "?": () => byId("help-box").showModal(),
    "w": () => timeline.widen(0.7),
    "+": () => timeline.widen(0.7),
    "s": () => timeline.widen(1 / 0.7),
    "-": () => timeline.widen(1 / 0.7),
    "a": () => timeline.move(-0.2),
    "d": () => timeline.move(0.2),
    "z": () => timeline.zoom(),
};

function pressed(event) {
    const tabButton = /^[1-9]$/.test(event.key) && byId("tabs").children[event.key - 1];
    const isTyping = event.target.matches("input, select") && event.key !== "Escape";
    const act = tabButton ? () => tabButton.click() : KEYS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !act ||
        document.querySelector("dialog[open]"))
        return;
    act();
    event.preventDefault();
}

/* A line between two parts moves by mouse and keys: `resize(y)` gets its place. */
function makeSplitter(id, resize) {
    const splitter = byId(id);
    const follow = (event) => resize(event.clientY);
    splitter.addEventListener("pointerdown", (event) => {
        splitter.setPointerCapture(event.pointerId);
        window.addEventListener("pointermove", follow);
        event.preventDefault();
    });
    for (const end of ["pointerup", "pointercancel"])
        window.addEventListener(end, () => window.removeEventListener("pointermove", follow));
    splitter.addEventListener("keydown", (event) => {
        const step = { ArrowUp: -30, ArrowDown: 30 }[event.key];
        if (step)
            resize(splitter.getBoundingClientRect().top + step);
    });
}

/* The timeline can be as high as its lanes. */
function resizeTimeline(y) {
    const { style } = byId("lanes"), most = window.innerHeight - 260;
    style.maxHeight = `${Math.max(2 * LANE, Math.min(y - byId("lanes").getBoundingClientRect().top, most))}px`;
}

function resizeTables(y) {
    const most = document.querySelector("main").clientHeight - 200;
    byId("tables").style.flexBasis = `${Math.max(60, Math.min(window.innerHeight - y, most))}px`;
}

document.body.classList.toggle("diff", data.isDiff);
byId("event").parentElement.hidden = data.events.length < 2;
byId("event").addEventListener("change", (event) => {
    zoom(0);
    setEvent(Number(event.target.value));
});
byId("scale").addEventListener("change", (event) => setScale(event.target.value === "run"));
byId("width").addEventListener("change", (event) => setSide(Number(event.target.value)));
byId("flip").addEventListener("click", flip);
byId("unzoom").addEventListener("click", () => zoom(0));
byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter")
        nextMatch();
});
byId("about").addEventListener("click", () => byId("about-box").showModal());
byId("title").addEventListener("click", () => byId("about-box").showModal());
byId("help").addEventListener("click", () => byId("help-box").showModal());
byId("theme").addEventListener("click",
                               () => setTheme(document.documentElement.dataset.theme !== "dark"));
document.addEventListener("keydown", pressed);
const preference = window.matchMedia("(prefers-color-scheme: dark)");
preference.addEventListener("change", () => setTheme(preference.matches));
makeSplitter("lane-splitter", resizeTimeline);
makeSplitter("splitter", resizeTables);
setTheme(preference.matches);
makeTabs();
if (data.events.length) {
    setEvent(0);
    fragment.show();
}
