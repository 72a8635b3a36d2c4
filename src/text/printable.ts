/** Controls (C0, DEL, C1), line and paragraph separators, bidirectional marks: what steers a terminal or reorders text. */
const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** One line of text from a server, a file or a person, for a terminal or a log: no control or bidirectional characters. */
export function printable(text: string, replacement = ' '): string {
  return text.replace(STEERING, replacement);
}

/** The same of several lines: line feeds and tabs stay. */
export function printableLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(STEERING, (character) => (/[\n\t]/.test(character) ? character : ' '));
}

/** The colour codes of `createStyle`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what begins them
const COLOURS = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;

/** Text that was coloured by `createStyle`: its colour codes stay, every other control character goes. */
export function printableStyled(text: string): string {
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : printableLines(part)))
    .join('');
}

/** JSON as it can be shown on a terminal: `JSON.stringify` escapes C0 alone. */
export function printableJson(json: string): string {
  return json.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
