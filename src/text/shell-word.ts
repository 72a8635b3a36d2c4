/** A program with its arguments as a shell reads it back; one line stays as it is. */
export function commandText(command: string | string[]): string {
  return typeof command === 'string' ? command : command.map(shellWord).join(' ');
}

/** A command for a person to copy: each value is one word of a POSIX shell, and no option, whatever name it is. */
export function shell(texts: TemplateStringsArray, ...values: (string | number)[]): string {
  const words = values.map((value, index) => {
    const word = shellWord(`${value}`);
    const isValue = /(?:^| )--?\w[\w-]* $/.test(texts[index] ?? '');
    return `${word.startsWith('-') && !isValue ? '-- ' : ''}${word}`;
  });
  return String.raw({ raw: texts }, ...words);
}

/** A word as a POSIX shell reads it back: quoted unless it is plain. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
