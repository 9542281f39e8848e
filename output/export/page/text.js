/* SPDX-License-Identifier: Apache-2.0 */

/* Numbers as people read them, and small helpers for the document. */

const percent = (share) => {
    const value = share * 100;
    return `${value >= 99.95 ? value.toFixed(0) : value.toFixed(value < 9.995 ? 2 : 1)} %`;
};

const grouped = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");

function duration(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
        if (ns >= size)
            return `${(ns / size).toFixed(ns >= 100 * size ? 0 : 2)} ${unit}`;
    }
    return `${Math.round(ns)} ns`;
}

/* A moment, so exact that those `step` apart differ. */
function moment(ns, step) {
    const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, least]) => ns >= least) ?? ["ns", 1];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step)));
    return ns ? `${Number((ns / size).toFixed(digits))} ${unit}` : "0";
}

const inUnit = (value, unit) => unit === "ns" ? duration(value) : `${grouped(value)} ${unit}`;

/* A name without its parameters and template arguments, which hide what matters where room is
 * scarce. */
function withoutArguments(name) {
    if (/operator|^\[/.test(name) || !/[<(]/.test(name))
        return name;
    let kept = "", depth = 0;
    for (const character of name) {
        if (character === "<" || character === "(")
            depth++;
        else if (character === ">" || character === ")")
            depth--;
        else if (!depth)
            kept += character;
    }
    return depth ? name : kept.trim() || name;
}

/* What fits into so many characters: the whole, or without arguments, or the last part of it. */
function fitName(name, room) {
    if (name.length <= room)
        return name;
    const plain = withoutArguments(name), last = plain.split("::").at(-1);
    const fitting = plain.length <= room ? plain : last || plain;
    return fitting.length <= room ? fitting : `${fitting.slice(0, Math.max(room - 1, 1))}…`;
}

/* A command line without folders of its program, cut in the middle: its end says as much. */
function shortCommand(command) {
    const text = command.replace(/^\S*\//, "");
    return text.length > 30 ? `${text.slice(0, 17)}…${text.slice(-12)}` : text;
}

const byId = (id) => document.getElementById(id);

function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className)
        made.className = className;
    if (text !== undefined)
        made.textContent = text;
    return made;
}

/* Calls at most once a frame of the screen. */
function perFrame(draw) {
    let isAsked = false;
    return () => {
        if (isAsked)
            return;
        isAsked = true;
        requestAnimationFrame(() => {
            isAsked = false;
            draw();
        });
    };
}

/* A canvas of that size in CSS pixels, sharp on any screen. */
function prepare(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(width * ratio), high = Math.round(height * ratio);
    if (canvas.width !== wide || canvas.height !== high) {
        canvas.width = wide;
        canvas.height = high;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}
