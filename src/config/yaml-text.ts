/** A value as YAML on one line; quoted only where it would be read as something else. */
export function writeScalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeScalar).join(', ')}]`;
  if (typeof value !== 'string') return String(value);
  if (/^[A-Za-z./~$][\w./~$:@-]*$/.test(value) && !/^(true|false|null|~)$/i.test(value)) return value;
  return JSON.stringify(value);
}
