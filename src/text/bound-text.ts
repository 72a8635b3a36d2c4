/** Characters of one message; names in it come from databases, which may have very many. */
const MOST_CHARACTERS = 4000;

/** Returns the text, or its beginning with the number of the characters that are left out. */
export function boundText(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return `${text.slice(0, MOST_CHARACTERS)}… (${text.length - MOST_CHARACTERS} more characters)`;
}
