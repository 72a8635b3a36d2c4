import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import { contentsText, FREED } from '../../presentation/snapshot.ts';
import type { AutomaticSave } from '../../results/load-results.ts';
import type { SavePlan, SaveRemoval, SaveResult } from '../../results/saves/save-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatDuration } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { plannedReading, readingLines } from '../build/text.ts';
import { saveFact, saveName } from './facts-text.ts';

export function saveQuestion({ target, branch, name, note, destination, all_read }: SavePlan): Question {
  return {
    title: `Store ${saveName(target, name)}`,
    facts: [
      { name: branch === undefined ? 'Destination' : 'Branch', value: destination },
      { name: 'Note', value: note ?? 'none' },
      { name: 'Rows', value: plannedReading(all_read, 'save') },
    ],
    steps: [],
    warnings: [],
    consequence: 'No database is changed.',
    ask: `Store ${saveName(target, name)}?`,
    go: 'Save',
    harmless: true,
    typed: null,
  };
}

export function saveSummary({ target, branch, save, removed }: SaveResult): RunSummary {
  const added = `${contentsText(save)} (${formatBytes(save.stored_bytes)} added)`;
  return summaryOf(`Stored ${saveName(target, save.name)}: ${added}`, {
    card: { title: `Save ${save.name} stored`, facts: [] },
    details: [
      ...readingLines(save.reading, 'save'),
      ...(removed.length === 0 ? [] : [`Removed older saves: ${removed.join(', ')}`]),
      `To return to it: ${shell`tool back ${target}`}${branch === undefined ? '' : shell` --branch ${branch}`}`,
    ],
  });
}

/** `shop_dev.tool-undo (443.0 MB), about 7.4 s, unless it is as it was loaded` */
export function automaticSaveFacts(saves: AutomaticSave[]): Fact[] {
  return saves.map(({ database, size_bytes, duration_ms, skipped }, index) => {
    const name = index === 0 ? 'Saves first' : '';
    const of = `${database} (${formatBytes(size_bytes)})`;
    const takes = `about ${formatDuration(duration_ms)}`;
    if (skipped) return { name, value: `not ${of}, which would take ${takes}`, tone: 'caution' };
    return { name, value: `${of}, ${takes}, unless it is as it was loaded`, brief: of };
  });
}

export function automaticSaveSteps(saves: AutomaticSave[]): string[] {
  return saves
    .filter(({ skipped }) => !skipped)
    .map(({ database }) => `Save ${database}, unless it is as it was loaded`);
}

export function skippedText(target: string, { database, duration_ms }: AutomaticSave, maxDuration: number): string {
  const limit = `saves.max_duration is ${maxDuration} s`;
  return `The state of ${database} will be lost: a save would take about ${formatDuration(duration_ms)}, ${limit}. To keep it: ${shell`tool save ${target}`}, or ${shell`tool undo ${target}`} first`;
}

export function saveRemovalQuestion({ target, save, frees_bytes }: SaveRemoval, now: Date): Question {
  return {
    title: `Remove ${saveName(target, save.name)}`,
    facts: [
      saveFact(save, now),
      { name: 'Contents', value: contentsText(save) },
      { name: 'Note', value: save.note ?? 'none' },
      { name: 'Frees', value: `${formatBytes(frees_bytes)}, ${FREED}` },
    ],
    steps: [],
    warnings: [],
    consequence: 'The save will be removed. This cannot be undone.',
    ask: `Remove ${saveName(target, save.name)}?`,
    go: 'Remove the save',
    typed: null,
  };
}

export function saveRemovalSummary({ target, save, frees_bytes }: SaveRemoval): RunSummary {
  return summaryOf(`Removed ${saveName(target, save.name)}: frees ${formatBytes(frees_bytes)}`);
}
