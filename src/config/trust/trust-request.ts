import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import type { Effect } from '../../results/configuration/effects.ts';
import type { ConfigFile } from '../config-file.ts';
import { settingsSchema } from '../schema/settings.ts';
import { shapeOf } from '../schema/shape.ts';
import { openValues } from '../secrets/open-values.ts';
import type { Tree } from '../tree.ts';
import { coveredPart } from './covered.ts';
import { type CoveredFile, coveredFiles } from './covered-files.ts';
import { effectsOf } from './effects.ts';

export interface TrustRequest {
  /** Absolute path, links resolved. */
  file: string;
  effects: Effect[];
  /** SHA-256 in hexadecimal of the covered part of the file, and of the files that it names. */
  digest: string;
  /** Files that it names, and that the digest covers. */
  files: CoveredFile[];
  /** The effects of the last answer about this file; `null` without one. */
  answered: Effect[] | null;
}

/** Reads the file's text, the files that it names, and TOOL_SECRET_KEY, which may decrypt it. */
export async function trustRequestOf(
  { path, source }: Pick<ConfigFile, 'path' | 'source'>,
  environment: NodeJS.ProcessEnv,
): Promise<Omit<TrustRequest, 'answered'>> {
  const shape = shapeOf(settingsSchema);
  const covered = coveredPart(source.tree, shape);
  const secretKey = environment.TOOL_SECRET_KEY;
  const files = await coveredFiles(opened(covered, secretKey), { path, environment });
  const digest = createHash('sha256').update(JSON.stringify({ covered, files })).digest('hex');
  const effects = effectsOf(covered, { shape, secretKey, files });
  return { file: await realpath(path).catch(() => path), effects, digest, files };
}

/** With the decrypted names of files. */
function opened(covered: Tree, secretKey: string | undefined): Tree {
  const tree = structuredClone(covered);
  if (secretKey) tree.secret_key = secretKey;
  openValues(tree);
  return tree;
}
