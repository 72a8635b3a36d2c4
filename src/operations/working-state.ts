import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { replaceFile } from '../config/edit/write-temporary.ts';
import type { Context } from '../runtime/context.ts';

export interface StateFile<Schema extends v.GenericSchema> {
  /** In the working directory. */
  name: string;
  schema: Schema;
}

type WithDirectory = Pick<Context, 'configuration'>;

/** Returns the state of earlier runs; `undefined` without a file. Throws where it cannot be read, or is damaged. */
export async function readState<Schema extends v.GenericSchema>(
  context: WithDirectory,
  { name, schema }: StateFile<Schema>,
): Promise<v.InferOutput<Schema> | undefined> {
  const file = statePath(context, name);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return;
    throw new Error(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  if (text === undefined) return;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (!parsed.success) throw new Error(`${file} is damaged`);
  return parsed.output as v.InferOutput<Schema>;
}

export async function writeState<Schema extends v.GenericSchema>(
  context: WithDirectory,
  { name }: StateFile<Schema>,
  content: v.InferOutput<Schema>,
): Promise<void> {
  const file = statePath(context, name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, `${JSON.stringify(content)}\n`, { mode: 0o600 });
}

function statePath({ configuration }: WithDirectory, name: string): string {
  return join(configuration.settings.working_directory, name);
}
