import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { writePrivateFile } from '../../runtime/write-file.ts';
import { parseJsonAs } from '../../text/parse-json.ts';

const uploadSchema = v.object({
  stored_sha256: v.string(),
  stored_bytes: v.number(),
  upload_id: v.string(),
  part_bytes: v.number(),
  /** By the number of the part, from 1. */
  etags: v.record(v.string(), v.string()),
});

/** An unfinished multipart upload with the parts that the bucket has. */
export type UnfinishedUpload = v.InferOutput<typeof uploadSchema>;

/** Multipart uploads of this machine, so that a push after an interruption sends only the missing parts. */
export interface UnfinishedUploads {
  find(key: string): Promise<UnfinishedUpload | null>;
  write(key: string, upload: UnfinishedUpload): Promise<void>;
  remove(key: string): Promise<void>;
}

/** The hub removes the parts after a day. */
const LIFE_MS = 24 * 60 * 60 * 1000;

/** `place` identifies hub, target and kind of snapshot. */
export function createUnfinishedUploads(workingDirectory: string, place: string): UnfinishedUploads {
  const folder = join(workingDirectory, 'cache', 'hub-uploads');
  const fileOf = (key: string): string => {
    const name = createHash('sha256').update(`${place}\n${key}`).digest('hex').slice(0, 32);
    return join(folder, `${name}.json`);
  };
  let writing: Promise<void> = Promise.resolve();
  let pruned: Promise<void> | null = null;

  async function put(file: string, text: string): Promise<void> {
    pruned ??= removeOld(folder);
    await pruned;
    await writePrivateFile(file, text);
  }

  return {
    async find(key) {
      return parseJsonAs(uploadSchema, await readFile(fileOf(key), 'utf8').catch(() => ''));
    },
    write(key, upload) {
      const text = JSON.stringify(upload);
      // Without it, only the resumption is lost.
      writing = writing.then(() => put(fileOf(key), text)).catch(() => {});
      return writing;
    },
    async remove(key) {
      await writing;
      await rm(fileOf(key), { force: true });
    },
  };
}

async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const facts = await stat(join(folder, name)).catch(() => null);
    if (facts && Date.now() - facts.mtimeMs > LIFE_MS) await rm(join(folder, name), { force: true });
  }
}
