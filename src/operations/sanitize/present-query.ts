import { access } from 'node:fs/promises';
import type { Context } from '../../runtime/context.ts';
import { chooseQuery, chosenQuery, type SanitizeQuery } from '../../sanitize/query.ts';

/** A configured file that does not exist yet is no query: saving the suggestion creates it. */
export async function presentQuery(context: Context, target: string): Promise<SanitizeQuery | null> {
  const file = chosenQuery(context.configuration, target)?.file ?? null;
  if (file !== null) {
    const exists = await access(file).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    );
    if (!exists) return null;
  }
  return chooseQuery(context, target);
}
