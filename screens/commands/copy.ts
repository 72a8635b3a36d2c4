import { contextOf, type KeyBinding, type Model } from '../app/model.ts';
import { noTarget } from '../app/why-not.ts';
import { COPY_QUESTION, copyChoices, NOTHING_TO_COPY } from './copy-text.ts';

/** Copies a URL, an id or the command of an action: the terminal sets its clipboard (OSC 52). */
export const COPY: KeyBinding = {
  id: 'copy',
  label: 'copy',
  help: 'copy a URL without its password, a name or id, or the shell command of an action',
  palette: 'Copy URL, id or command',
  whyNot: noTarget,
  run: chooseCopy,
};

function chooseCopy(model: Model): void {
  const { navigation, config } = model;
  const { target, snapshot } = contextOf(model);
  if (!target) return;
  const choices = copyChoices({ target: target.row, snapshot, config: config ?? null });
  if (choices.length === 0) {
    navigation.notify({ tone: 'caution', text: NOTHING_TO_COPY });
    return;
  }
  navigation.push({
    screen: 'choice',
    path: [target.row.name, 'copy'],
    question: COPY_QUESTION,
    lines: [],
    options: choices.map(({ label, text }) => ({ label: `${label}  ${text}`, value: text })),
    answer: (text) => copyToClipboard(model, text),
  });
}

/** With the password of a server that this session has started, which nothing else knows. */
export function copyDatabaseUrl(model: Model, url: string): void {
  copyToClipboard(model, model.operations.serverUrl(url) ?? url, url);
}

export function copyToClipboard({ terminal, navigation }: Model, text: string, shown = text): void {
  terminal.copy(text);
  navigation.notify({ tone: 'good', text: `Copied ${shown}` });
}
