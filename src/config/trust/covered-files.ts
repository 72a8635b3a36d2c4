import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { absolutePath, firstFile } from '../paths.ts';
import { isTree, type Tree, valueAt } from '../tree.ts';

/** A file that a configuration names, and whose content has effects. */
export interface CoveredFile {
  /** The path in the configuration. */
  name: string;
  /** Digest of the content, for people and for comparison. */
  digest: string;
}

/** Bytes. */
const LARGEST_FILE = 64 * 1024 * 1024;

/** The query files of a configuration, searched where the program searches them. */
export async function coveredFiles(
  tree: Tree,
  { path, environment }: { path: string; environment: NodeJS.ProcessEnv },
): Promise<CoveredFile[]> {
  const from = dirname(path);
  const { working_directory, targets } = tree;
  const folders = [from];
  if (typeof working_directory === 'string') folders.push(absolutePath(working_directory, { from, environment }));
  const queries = Object.values(isTree(targets) ? targets : {}).flatMap((target) => {
    if (!isTree(target)) return [];
    const steps = valueAt(target, ['snapshot', 'after_load']);
    const ofSteps = Array.isArray(steps) ? steps.map((step) => isTree(step) && step.query_file) : [];
    return [valueAt(target, ['sanitize', 'query_file']), ...ofSteps];
  });
  const names = new Set(queries.filter((name) => typeof name === 'string'));
  const files: CoveredFile[] = [];
  for (const name of names) {
    const file = await firstFile(folders.map((folder) => absolutePath(name, { from: folder, environment })));
    if (file !== null) files.push({ name, digest: await digestOf(file) });
  }
  return files;
}

const ANY_CONTENT = 'too large to be covered: any content';

export function isContentOf({ digest }: Pick<CoveredFile, 'digest'>, content: Uint8Array): boolean {
  return digest === ANY_CONTENT || digest === digestText(createHash('sha256').update(content));
}

function digestText(hash: Hash): string {
  return `SHA-256 ${hash.digest('hex').slice(0, 32)}`;
}

async function digestOf(file: string): Promise<string> {
  try {
    if ((await stat(file)).size > LARGEST_FILE) return ANY_CONTENT;
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    return digestText(hash);
  } catch {
    return 'unreadable';
  }
}
