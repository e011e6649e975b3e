"use strict";
// Alignment of two transcripts and of their texts.

const MAX_CELLS = 4e6;

/** The longest common subsequence as pairs of positions, by a score of two positions. */
function align(rows, columns, score) {
  const width = columns + 1;
  const best = new Uint32Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const points = score(row, column);
      const skip = Math.max(best[(row + 1) * width + column], best[row * width + column + 1]);
      const pair = points > 0 ? points + best[(row + 1) * width + column + 1] : 0;
      best[row * width + column] = Math.max(skip, pair);
    }
  }
  const pairs = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    const here = best[row * width + column];
    const points = score(row, column);
    if (points > 0 && here === points + best[(row + 1) * width + column + 1]) {
      pairs.push([row++, column++]);
    } else if (here === best[(row + 1) * width + column]) row++;
    else column++;
  }
  return pairs;
}

/** A message of the page's data as an object. */
function message(texts, [role, text, more]) {
  const content = text === null ? "" : texts[text];
  const calls = role === 1 ? more.map(([name, args]) => [texts[name], texts[args]]) : [];
  const said = role === 0 ? "user" : role === 1 ? "model" : texts[more];
  // The keys tell equal messages, and messages of the same kind.
  const kind = JSON.stringify([role, said, calls.map(([name]) => name)]);
  return { role: said, content, calls, number: role, kind, key: JSON.stringify([kind, content, calls]) };
}

/** Equal messages count most, then those with the same role and tools. */
function likeness(a, b) {
  if (a.key === b.key) return 5;
  if (a.kind === b.kind) return 3;
  return a.number === 1 && b.number === 1 ? 1 : 0;
}

/** Pairs of messages in order. One of a pair is null where the other has no counterpart. */
function alignMessages(first, second) {
  const turns = [];
  let [left, right] = [0, 0];
  const pairs = align(first.length, second.length, (a, b) => likeness(first[a], second[b]));
  for (const [a, b] of [...pairs, [first.length, second.length]]) {
    while (left < a) turns.push([first[left++], null]);
    while (right < b) turns.push([null, second[right++]]);
    if (a < first.length) turns.push([first[left++], second[right++]]);
  }
  return turns;
}

/** Two texts as lists of [text, whether it differs], compared by words. */
function compareTexts(first, second) {
  const words = (text) => text.match(/\s+|[\p{L}\p{N}_]+|[^]/gu) ?? [];
  const [a, b] = [words(first), words(second)];
  let [start, end] = [0, 0];
  const shorter = Math.min(a.length, b.length);
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [rows, columns] = [a.length - start - end, b.length - start - end];
  const equal = [new Set(), new Set()];
  if (rows * columns <= MAX_CELLS) {
    const same = (row, column) => Number(a[start + row] === b[start + column]);
    for (const [row, column] of align(rows, columns, same)) {
      equal[0].add(start + row);
      equal[1].add(start + column);
    }
  }
  return [a, b].map((all, side) => {
    const parts = [];
    all.forEach((word, at) => {
      const differs = at >= start && at < all.length - end && !equal[side].has(at);
      const last = parts[parts.length - 1];
      if (last && last[1] === differs) last[0] += word;
      else parts.push([word, differs]);
    });
    return parts;
  });
}
