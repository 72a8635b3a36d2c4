import { extname } from 'node:path';
import { exists } from '../../config/config-file.ts';
import { openDatabase } from '../../engines/open-database.ts';
import type { SubsetGraphResult } from '../../results/subset-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { createFile, ownershipOf, replaceFile } from '../../runtime/write-file.ts';
import { graphOf } from '../../subset/diagram.ts';
import { drawMermaid } from '../../subset/draw-mermaid.ts';
import { fileExists } from '../assert-new-file.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { planFor, type SubsetRequest, settingOf } from './subset-setting.ts';

export interface SubsetGraphRequest extends SubsetRequest {
  /** Absolute path that ends in `.mmd`. */
  file: string;
  /** Replaces an existing file. */
  force?: boolean;
}

/** Writes the tables of the source and their references as a Mermaid flow chart. Reads the catalog of the source, and no row. */
export async function writeSubsetGraph(given: Context, request: SubsetGraphRequest): Promise<SubsetGraphResult> {
  const { file, force = false, target } = request;
  if (extname(file).toLowerCase() !== '.mmd') throw formatUnknown(file);
  if (!force && (await exists(file))) throw fileExists(file, OVERWRITE);
  const context = await withTargetUrls(given, target, { source: true });
  const setting = settingOf(context, request);
  await using source = await openDatabase(context, setting.source).subset.openSource(setting.cpus);
  const graph = graphOf(target, planFor(source, setting));
  await writeGraph(file, drawMermaid(graph), { force });
  return { target, file, format: 'mermaid', tables: graph.tables.length, references: graph.references.length };
}

function formatUnknown(file: string): UserError {
  return new UserError('invalid_value', `Cannot draw ${file}: unknown format`, {
    hint: 'Name a file that ends in .mmd: Mermaid, which GitHub, GitLab and many editors draw. Its program makes an SVG: mmdc -i subset.mmd -o subset.svg',
  });
}

const OVERWRITE = 'Choose another name, or add --force to overwrite it.';

const MODE = 0o666;

async function writeGraph(file: string, text: string, { force }: { force: boolean }): Promise<void> {
  try {
    if (force) await replaceFile(file, text, await ownershipOf(file, MODE));
    else await createFile(file, text, { mode: MODE });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw fileExists(file, OVERWRITE);
    throw new UserError('file_not_written', `Cannot write ${file}: ${message}`, {
      hint: 'Check the folder, and the space on its disk.',
      cause,
    });
  }
}
