import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fail, REHEARSAL_SUMMARY, setOutput, withoutCommands, workflowCommand } from './workflow-commands.mjs';

// Runs one command. Its warnings and its error become annotations, its result becomes outputs and the summary of the job.

const { INPUT_COMMAND = '', INPUT_TARGET = '', INPUT_ARGUMENTS = '', INPUT_CONFIG = '' } = process.env;
const TITLE = `tool ${INPUT_COMMAND}`;

/** Commands with `--summary`. */
const SUMMARIZED = ['build', 'sanitize', 'subset', 'rehearse'];

/** The runner shows so many of a step. */
const MOST_ANNOTATIONS = 10;

if (!/^[a-z]+( [a-z]+)*$/.test(INPUT_COMMAND))
  fail('tool', `"${INPUT_COMMAND}" is no command. Write one such as build.`);
if (INPUT_TARGET.startsWith('-')) fail(TITLE, `"${INPUT_TARGET}" is no name of a target. Flags belong in arguments.`);

const summary =
  INPUT_COMMAND === 'rehearse'
    ? REHEARSAL_SUMMARY
    : join(mkdtempSync(join(process.env.RUNNER_TEMP ?? '/tmp', 'tool-')), 'summary.md');
rmSync(summary, { force: true });
const words = [
  ...INPUT_COMMAND.split(' '),
  ...(INPUT_TARGET === '' ? [] : [INPUT_TARGET]),
  ...(INPUT_CONFIG === '' ? [] : ['--config', INPUT_CONFIG]),
  ...(SUMMARIZED.includes(INPUT_COMMAND) ? ['--summary', summary] : []),
  '--json',
  // Last: behind -- they are a command.
  ...split(INPUT_ARGUMENTS),
];
const env = { ...process.env, ...temporaryKey() };

const enableCommands = withoutCommands();
const child = spawn('tool', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
// The runner reads two streams in any order: in one, everything stays between the two commands.
child.stderr.on('data', (chunk) => process.stdout.write(chunk));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const ended = Promise.race([once(child, 'close'), once(child, 'error').then(([error]) => [127, error.code])]);
const [warnings, failures] = [[], []];
let result = null;
for await (const line of createInterface({ input: child.stdout })) {
  const event = parsed(line);
  if (event?.event === 'warning') warnings.push(event);
  else if (event?.event === 'error' || event?.error) failures.push(event.error ?? event);
  else if (event?.event === 'done') result = event;
  else if (event?.event === 'step' && event.state !== 'started') process.stdout.write(`${event.label}\n`);
  else if (event?.event === undefined) process.stdout.write(`${line}\n`);
}
const [code, signal] = await ended;
enableCommands();
if (INPUT_COMMAND === 'rehearse') failures.push(...(result?.problems ?? []));

for (const { code: title, message } of warnings.slice(0, MOST_ANNOTATIONS))
  workflowCommand('warning', message, { title });
for (const { code: title, message, hint, details = [] } of failures) {
  workflowCommand('error', [message, ...details, hint ?? ''].filter(Boolean).join('\n'), {
    title: `${TITLE}: ${title}`,
  });
}
if (result !== null) setOutputs(result);
addSummary();
if (code !== 0 && failures.length === 0) workflowCommand('error', `It ended with ${code ?? signal}`, { title: TITLE });
process.exitCode = code ?? 1;

/** Words as a shell takes them, without anything but quotes. */
function split(text) {
  const found = text.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+|["']/g) ?? [];
  if (found.some((word) => word === '"' || word === "'")) fail(TITLE, 'A quote in arguments is not closed.');
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/** A job without a configuration stores no secret that a later run has to read. */
function temporaryKey() {
  if (process.env.TOOL_SECRET_KEY || INPUT_CONFIG !== '' || existsSync('tool.yml')) return {};
  const key = randomBytes(16).toString('hex');
  workflowCommand('add-mask', key);
  return { TOOL_SECRET_KEY: key };
}

function parsed(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function setOutputs({ snapshot, sanitized }) {
  if (!snapshot) return;
  setOutput('snapshot-id', snapshot.id);
  setOutput('size', snapshot.size_bytes);
  if (sanitized?.id) setOutput('sanitized-snapshot-id', sanitized.id);
}

function addSummary() {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (file && existsSync(summary)) appendFileSync(file, `${readFileSync(summary, 'utf8')}\n`);
}
