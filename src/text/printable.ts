/**
 * Characters that control a terminal or reorder text: C0, DEL, C1, line and paragraph separators, bidirectional marks.
 */
const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** One line without control or bidirectional characters, for a terminal or a log. */
export function printable(text: string, replacement = ' '): string {
  return text.replace(STEERING, () => replacement);
}

const SHORT_ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line in which a person sees control and bidirectional characters: `\n`, `\u001b`. */
export function escaped(text: string): string {
  return text.replace(STEERING, (character) => SHORT_ESCAPES[character] ?? escapeOf(character));
}

/** Joins lines of which none can hold another, whatever names are in it. */
export function joinLines(lines: string[]): string {
  return lines.map((line) => printable(line)).join('\n');
}

/** Keeps line feeds and tabs. */
export function printableLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(STEERING, (character) => (/[\n\t]/.test(character) ? character : ' '));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what begins them
const COLOURS = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Keeps the colour codes of `createStyle`. */
export function printableStyled(text: string): string {
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : printableLines(part)))
    .join('');
}

/** `JSON.stringify` escapes C0 only. */
export function printableJson(json: string): string {
  return json.replace(STEERING, (character) => escapeOf(character));
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
