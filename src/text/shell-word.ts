/** A program with its arguments as a shell reads it back; one line stays as it is. */
export function commandText(command: string | string[]): string {
  return typeof command === 'string' ? command : command.map(shellWord).join(' ');
}

/** A word as a POSIX shell reads it back: quoted unless it is plain. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
