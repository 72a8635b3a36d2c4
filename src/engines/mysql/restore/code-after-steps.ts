import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../../runtime/errors.ts';
import type { Code, CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import type { Unreadable } from '../catalog/definitions/read-definitions.ts';
import { readNameCase } from '../catalog/name-case.ts';
import type { MysqlSession } from '../connection/session.ts';

/** A shadow database with its code, whose definers and events were written otherwise in the snapshot. */
interface StepsInDatabase {
  shadow: string;
  code: CodeDefinitions;
  run: () => Promise<void>;
}

/** Runs steps that may change any code, and returns the code to create after the swap. */
export async function codeAfterSteps(server: MysqlSession, { shadow, code, run }: StepsInDatabase) {
  const before = await readDependents(server, shadow, () => {});
  await run();
  const after = await readDependents(server, shadow, refuse);
  const names = [code, after].flatMap(({ views, triggers }) => [...views, ...triggers]).map(({ name }) => name);
  const { fold } = await readNameCase(server, names);
  const keyOf = ({ kind, name }: Code): string =>
    `${kind} ${kind === 'VIEW' || kind === 'TRIGGER' ? fold(name) : name.toLowerCase()}`;
  const merged: CodeDefinitions = { ...after };
  for (const kind of ['routines', 'views', 'triggers', 'events'] as const) {
    merged[kind] = merge({ snapshot: code[kind], before: before[kind], after: after[kind] }, keyOf);
  }
  // Not in a qualified name, which is read without its database: in a text, such as that of a prepared statement.
  const naming = [merged.routines, merged.triggers, merged.events]
    .flat()
    .filter(({ create }) => create.includes(shadow));
  if (naming.length > 0) {
    const names = naming.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`);
    throw failed(names.map((what) => `${what} has the name of the shadow database, which gets another one`));
  }
  return merged;
}

/** In the present order; an object that no step has changed is that of the snapshot, also where it was not created. */
function merge(
  { snapshot, before, after }: Record<'snapshot' | 'before' | 'after', Code[]>,
  keyOf: (code: Code) => string,
): Code[] {
  const byName = (codes: Code[]): Map<string, Code> => new Map(codes.map((code) => [keyOf(code), code]));
  const [own, earlier] = [byName(snapshot), byName(before)];
  const present = after.map((code) => {
    const key = keyOf(code);
    return isDeepStrictEqual(earlier.get(key), code) ? (own.get(key) ?? code) : code;
  });
  const there = byName(after);
  return [...present, ...snapshot.filter((code) => !earlier.has(keyOf(code)) && !there.has(keyOf(code)))];
}

const refuse: Unreadable = (what, why) => {
  throw failed([`${what} cannot be read: ${why}`]);
};

function failed(details: string[]): UserError {
  return new UserError('after_load_failed', 'The steps of after_load left code that cannot move to the destination', {
    details,
    hint: 'The destination is unchanged. Create it without the name of the database, as a user who may read it.',
  });
}
