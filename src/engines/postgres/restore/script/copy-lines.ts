import { textOfLiteral } from '../../connection/literal-statement.ts';

/** Quoted texts and names of a COPY in canonical form. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/g;

/**
 * Lines for psql that begin a COPY in canonical form. It stands there as text: behind a value that the server returns
 * for a statement there may be any other one, and psql would run the rows as commands. Only a name whose bytes depend
 * on the encoding is such a value, which psql quotes.
 */
export function copyLines(copy: Buffer): string {
  const names: string[] = [];
  const text = copy.toString('latin1').replaceAll(QUOTED, (quoted) => {
    if (!quoted.startsWith('"') || /^\p{ASCII}*$/u.test(quoted)) return quoted;
    names.push(quoted.slice(1, -1).replaceAll('""', '"'));
    return `:"copy_name_${names.length}"`;
  });
  const values = names.map((name, at) => `${textOfLiteral(Buffer.from(name, 'latin1'))} AS copy_name_${at + 1}`);
  const setting = values.length > 0 ? `SELECT ${values.join(', ')} \\gset\n` : '';
  return `${setting}${text};\n`;
}
