import { constants, open } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Context } from '../runtime/context.ts';
import { writePrivateFile } from '../runtime/write-file.ts';
import { formatBytes } from '../text/format.ts';

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
  const text = await readBounded(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return;
    throw new Error(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  if (text === undefined) return;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (!parsed.success) throw new Error(`${file} is damaged`);
  return parsed.output as v.InferOutput<Schema>;
}

const MOST_BYTES = 64_000_000;

/** Waits for no writer of a pipe, and takes no more than a run writes. */
async function readBounded(file: string): Promise<string> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = await handle.stat();
  if (!stat.isFile()) throw new Error('it is no regular file');
  if (stat.size > MOST_BYTES) throw new Error(`it is larger than ${formatBytes(MOST_BYTES)}`);
  return handle.readFile('utf8');
}

export async function writeState<Schema extends v.GenericSchema>(
  context: WithDirectory,
  { name }: StateFile<Schema>,
  content: v.InferOutput<Schema>,
): Promise<void> {
  await writePrivateFile(statePath(context, name), `${JSON.stringify(content)}\n`);
}

function statePath({ configuration }: WithDirectory, name: string): string {
  return join(configuration.settings.working_directory, name);
}
