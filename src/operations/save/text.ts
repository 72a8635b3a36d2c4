import type { Question } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import { contentsText, FREED } from '../../presentation/snapshot.ts';
import type { SavePlan, SaveRemoval, SaveResult } from '../../results/save-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes } from '../../text/format.ts';
import { plannedReading, readingLines } from '../build/text.ts';
import { saveFact, saveName } from './facts-text.ts';

export function saveQuestion({ target, name, note, destination, all_read }: SavePlan): Question {
  return {
    title: `Store ${saveName(target, name)}`,
    facts: [
      { name: 'Destination', value: destination },
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

export function saveSummary({ target, save, removed }: SaveResult): RunSummary {
  const added = `${contentsText(save)} (${formatBytes(save.stored_bytes)} added)`;
  return summaryOf(`Stored ${saveName(target, save.name)}: ${added}`, {
    card: { title: `Save ${save.name} stored`, facts: [contentsText(save)] },
    details: [
      ...readingLines(save.reading, 'save'),
      ...(removed.length === 0 ? [] : [`Removed older saves: ${removed.join(', ')}`]),
      `To return to it: tool back ${target}`,
    ],
  });
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
