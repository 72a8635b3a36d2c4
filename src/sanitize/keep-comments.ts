import { UserError } from '../runtime/errors.ts';

export interface KeepComment {
  column: string;
  reason: string;
  line: number;
}

const PART = /(?:"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^\s."`]+))/.source;
const KEEP = /^\s*--\s*keep:/i;
const WHOLE = new RegExp(`^\\s*--\\s*keep:\\s*${PART}\\.${PART}\\.${PART}\\s+(\\S.*?)\\s*$`, 'i');

/** Reads `-- keep: schema.table.column reason`. The reason is required: reviewers read it. */
export function readKeepComments(query: string): KeepComment[] {
  return query.split('\n').flatMap((text, index): KeepComment[] => {
    if (!KEEP.test(text)) return [];
    const match = WHOLE.exec(text);
    if (!match) throw malformed(text.trim(), index + 1);
    const parts = [1, 4, 7].map(
      (at) => match[at]?.replaceAll('""', '"') ?? match[at + 1]?.replaceAll('``', '`') ?? match[at + 2],
    );
    return [{ column: parts.join('.'), reason: match[10] ?? '', line: index + 1 }];
  });
}

function malformed(text: string, line: number): UserError {
  return new UserError('keep_malformed', `Line ${line} of the sanitization query is not a keep comment: ${text}`, {
    hint: 'Write the column with schema and table, and a reason: -- keep: public.country.name names of countries',
  });
}
