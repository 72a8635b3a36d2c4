import { access } from 'node:fs/promises';
import type { Engine } from '../../engines/engine.ts';
import type { Context } from '../../runtime/context.ts';
import { type KeepComment, readKeepComments } from '../../sanitize/keep-comments.ts';
import { chooseQuery, chosenQuery } from '../../sanitize/query.ts';
import type { Statement } from '../../sanitize/statement.ts';

/** A configured file that does not exist yet is no query: saving the suggestion creates it. */
export async function presentQuery(
  context: Context,
  target: string,
  { splitQuery }: Pick<Engine, 'splitQuery'>,
): Promise<{ statements: Statement[]; keep: KeepComment[] }> {
  const file = chosenQuery(context.configuration, target)?.file ?? null;
  if (file !== null) {
    const exists = await access(file).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (!exists) return { statements: [], keep: [] };
  }
  const { text = '' } = (await chooseQuery(context, target)) ?? {};
  return { statements: await splitQuery(text), keep: readKeepComments(text) };
}
