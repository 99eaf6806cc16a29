"use strict";
// Shared by all scripts of the page: elements, numbers, and names cut in the middle.
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const number = (value) => value.toLocaleString("en-US");
const short = (text, limit) => {
  if (text.length <= limit) return text;
  const head = Math.floor((limit - 1) / 2);
  return text.slice(0, head) + "…" + text.slice(text.length - (limit - 1 - head));
};

