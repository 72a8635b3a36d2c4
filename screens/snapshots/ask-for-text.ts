import { resolve } from 'node:path';
import { defaultText, textEdit } from '../../components/text-edit.ts';
import {
  ANNOTATION_FIELDS,
  annotatedText,
  noteAbout,
  noteSaved,
} from '../../src/operations/snapshots/annotate/text.ts';
import { exportAbout, FILE_REQUIRED } from '../../src/operations/snapshots/transfer/transfer-text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { type Model, orNotify, quietly } from '../app/model.ts';
import type { SelectedSnapshot } from '../app/on-selected.ts';
import { runRoute } from '../commands/runs/run-route.ts';
import { exportRun } from '../commands/runs/runs.ts';

interface AnnotationOf extends SelectedSnapshot {
  what: 'note' | 'tags';
}

export function askForAnnotation(model: Model, annotation: AnnotationOf): void {
  const { what, target, snapshot } = annotation;
  const text = what === 'note' ? (snapshot.note ?? '') : (snapshot.tags ?? []).join(' ');
  model.navigation.push({
    ...{ screen: 'field', path: [target, what], ...ANNOTATION_FIELDS[what], about: noteAbout(target, snapshot) },
    typing: textEdit(text),
    accept: (written) => void annotate(model, annotation, written),
  });
}

/** Keeps the screen open when the text cannot be saved: the text is not lost. */
async function annotate(model: Model, { what, target, snapshot }: AnnotationOf, text: string): Promise<void> {
  const { navigation, operations } = model;
  const route = navigation.top();
  await orNotify(model, async () => {
    const session = quietly(AbortSignal.timeout(10_000));
    const change = what === 'note' ? { note: text } : tagChange(snapshot, text);
    const row = await operations.annotate(session, { target, snapshot: snapshot.id, ...change });
    if (navigation.top() === route) navigation.pop();
    navigation.notify({ tone: 'good', text: what === 'note' ? noteSaved(text) : annotatedText('tag', target, row) });
    await refreshSnapshots(model, target);
  });
}

function tagChange({ tags = [] }: SnapshotRow, text: string) {
  const wanted = text.split(/[\s,]+/).filter((tag) => tag !== '');
  return { addTags: wanted, removeTags: tags.filter((tag) => !wanted.includes(tag)) };
}

export function askForFile(model: Model, { target, snapshot }: SelectedSnapshot): void {
  const { navigation, runs, cwd } = model;
  navigation.push({
    ...{ screen: 'field', path: [target, 'export'], about: exportAbout(target, snapshot), label: 'File:' },
    typing: defaultText(`${encodeURIComponent(target)}-${snapshot.id}.zip`),
    accept(name) {
      if (name === '') navigation.notify({ tone: 'caution', text: FILE_REQUIRED });
      else navigation.replace(runRoute(runs.begin(exportRun(model, { target, snapshot }, resolve(cwd, name)))));
    },
  });
}
