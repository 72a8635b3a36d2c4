import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** The report of a rehearsal, for the step that comments. */
export const REHEARSAL_SUMMARY = join(process.env.RUNNER_TEMP ?? '/tmp', 'tool-rehearsal.md');

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands

/** Prints `::command name=value::text`, escaped. */
export function workflowCommand(command, text, properties = {}) {
  const shown = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`);
  process.stdout.write(`::${command}${shown.length > 0 ? ` ${shown.join(',')}` : ''}::${escapeData(text)}\n`);
}

function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text) {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Prints what others wrote: the runner executes none of it. The function that is returned ends this. */
export function withoutCommands() {
  const token = randomBytes(32).toString('hex');
  workflowCommand('stop-commands', token);
  return () => process.stdout.write(`\n::${token}::\n`);
}

/** An output of the step. A value cannot begin another one: the delimiter is random. */
export function setOutput(name, value) {
  const file = process.env.GITHUB_OUTPUT;
  if (!file) return;
  const delimiter = `end_${randomBytes(32).toString('hex')}`;
  appendFileSync(file, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

/** Ends the step with an annotation. */
export function fail(title, text, exit = 1) {
  workflowCommand('error', text, { title });
  process.exit(exit);
}
