/** Lines of at most so many ASCII characters, broken at blanks; a longer word stands alone. Needs no table of widths. */
export function wrapWords(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (longer.length <= width || last === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
