import { isAbsolute, relative, sep } from 'node:path';
import type { Settings } from './schema/settings.ts';

/** Configured query files at the top of the working directory: names, or `folder/`. */
export function queryFilesIn({
  targets,
  working_directory,
}: Pick<Settings, 'targets' | 'working_directory'>): string[] {
  const files = Object.values(targets).flatMap(({ sanitize, snapshot }) => [sanitize, ...(snapshot?.after_load ?? [])]);
  return files.flatMap((of) => {
    if (of?.query_file === undefined) return [];
    const path = relative(working_directory, of.query_file);
    const [top = '', ...below] = path.split(sep);
    if (top === '' || top === '..' || isAbsolute(path)) return [];
    return [below.length === 0 ? top : `${top}/`];
  });
}
