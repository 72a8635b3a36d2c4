/** Returns the elements of an array as PostgreSQL writes it, of all dimensions; without NULL. */
export function arrayElements(text: string): string[] {
  const elements: string[] = [];
  const body = text.slice(text.indexOf('{'));
  for (const [, quoted, plain] of body.matchAll(/"((?:[^"\\]|\\[\s\S])*)"|([^{},"\s][^{},"]*)/g)) {
    if (quoted !== undefined) elements.push(quoted.replaceAll(/\\([\s\S])/g, '$1'));
    else if (plain !== undefined && plain !== 'NULL') elements.push(plain);
  }
  return elements;
}

/** Returns the fields of a record as PostgreSQL writes it: `(1,"a ""b""",)`; an empty one is NULL. */
export function recordFields(text: string): (string | null)[] {
  const fields: (string | null)[] = [];
  let field = '';
  let isGiven = false;
  let isQuoted = false;
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (letter === '"' && isQuoted && text[at + 1] === '"') {
      field += letter;
      at += 1;
    } else if (letter === '"') {
      isQuoted = !isQuoted;
      isGiven = true;
    } else if (letter === '\\') {
      at += 1;
      field += text[at] ?? '';
    } else if (!isQuoted && (letter === ',' || letter === ')')) {
      fields.push(isGiven || field !== '' ? field : null);
      field = '';
      isGiven = false;
    } else field += letter;
  }
  return fields;
}
