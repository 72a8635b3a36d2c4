/** A value as YAML on one line; quoted only where it would be read as something else. */
export function writeScalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeScalar).join(', ')}]`;
  if (typeof value !== 'string') return String(value);
  return isPlain(value) ? value : JSON.stringify(value);
}

function isPlain(text: string): boolean {
  const isWord = /^[A-Za-z./~$][\w./~$:@-]*$/.test(text) && !text.endsWith(':');
  return isWord && !/^(true|false|null|~|\.inf|\.nan)$/i.test(text);
}
