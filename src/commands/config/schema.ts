import { readFile } from 'node:fs/promises';
import { assetUrl } from '../../assets.ts';
import type { Outcome } from '../../cli/command.ts';

export async function run(): Promise<Outcome> {
  const text = await readFile(assetUrl('tool.schema.json'), 'utf8');
  return { data: {}, text: text.trimEnd(), verbatim: true };
}
