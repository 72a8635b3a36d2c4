import { extname } from 'node:path';
import { openDatabase } from '../../engines/open-database.ts';
import type { SubsetGraphResult } from '../../results/subset-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { createFile } from '../../runtime/write-file.ts';
import { graphOf } from '../../subset/diagram.ts';
import { drawMermaid } from '../../subset/draw-mermaid.ts';
import { assertNewFile, fileExists } from '../assert-new-file.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { planFor, type SubsetRequest, settingOf } from './subset-setting.ts';

export interface SubsetGraphRequest extends SubsetRequest {
  /** Absolute path that ends in `.mmd`. */
  file: string;
}

/** Writes the tables of the source and their references as a Mermaid flow chart. Reads the catalog of the source, and no row. */
export async function writeSubsetGraph(given: Context, request: SubsetGraphRequest): Promise<SubsetGraphResult> {
  const { file, target } = request;
  if (extname(file).toLowerCase() !== '.mmd') throw formatUnknown(file);
  await assertNewFile(file);
  const context = await withTargetUrls(given, target, { source: true });
  const setting = settingOf(context, request);
  await using source = await openDatabase(context, setting.source).subset.openSource(setting.cpus);
  const graph = graphOf(target, planFor(source, setting));
  await writeGraph(file, drawMermaid(graph));
  return { target, file, format: 'mermaid', tables: graph.tables.length, references: graph.references.length };
}

function formatUnknown(file: string): UserError {
  return new UserError('invalid_value', `Cannot draw ${file}: unknown format`, {
    hint: 'Name a file that ends in .mmd: Mermaid, which GitHub, GitLab and many editors draw. Its program makes an SVG: mmdc -i subset.mmd -o subset.svg',
  });
}

const MODE = 0o666;

async function writeGraph(file: string, text: string): Promise<void> {
  try {
    await createFile(file, text, { mode: MODE });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw fileExists(file);
    throw new UserError('file_not_written', `Cannot write ${file}: ${message}`, {
      hint: 'Check the folder, and the space on its disk.',
      cause,
    });
  }
}
