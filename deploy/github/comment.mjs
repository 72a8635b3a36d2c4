import { existsSync, readFileSync } from 'node:fs';
import { REHEARSAL_SUMMARY, workflowCommand } from './workflow-commands.mjs';

// Writes the report of a rehearsal as a comment on the pull request, in place of the one that an earlier run wrote.

const {
  INPUT_COMMENT_TOKEN = '',
  INPUT_TARGET = '',
  GITHUB_API_URL = 'https://api.github.com',
  GITHUB_EVENT_PATH = '',
  GITHUB_REPOSITORY = '',
} = process.env;

/** GitHub takes 65,536. */
const MOST_CHARACTERS = 60_000;
const TIMEOUT_MS = 30_000;
const PER_PAGE = 100;
const MOST_PAGES = 10;

const number = existsSync(GITHUB_EVENT_PATH)
  ? JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')).pull_request?.number
  : undefined;
const mark = `<!-- tool rehearse ${INPUT_TARGET.replaceAll(/[^\w.-]/g, '_')} -->`;

if (!existsSync(REHEARSAL_SUMMARY)) say('There is no report of a rehearsal to comment with.');
else if (!Number.isSafeInteger(number)) say('The job is not of a pull request: no comment.');
else await comment().catch(({ message }) => workflowCommand('warning', message, { title: 'tool rehearse: comment' }));

async function comment() {
  const body = `${mark}\n${readFileSync(REHEARSAL_SUMMARY, 'utf8').slice(0, MOST_CHARACTERS)}`;
  const earlier = await findEarlier();
  if (earlier === null) await request('POST', `issues/${number}/comments`, { body });
  else await request('PATCH', `issues/comments/${earlier}`, { body });
  say(earlier === null ? 'Commented on the pull request.' : 'Updated the comment on the pull request.');
}

/** A person may write the mark, too: only a comment of an app, as the token of a job is, is replaced. */
async function findEarlier() {
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const found = await request('GET', `issues/${number}/comments?per_page=${PER_PAGE}&page=${page}`);
    const own = found.find(({ user, body }) => user?.type === 'Bot' && body?.startsWith(mark));
    if (own) return own.id;
    if (found.length < PER_PAGE) break;
  }
  return null;
}

async function request(method, path, content) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${INPUT_COMMENT_TOKEN}`,
      'user-agent': 'tool',
    },
    ...(content && { body: JSON.stringify(content) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return response.json();
  const why = response.status === 403 ? '. The job requires "permissions: pull-requests: write"' : '';
  throw new Error(`No comment on the pull request: GitHub answers ${response.status} to ${method}${why}`);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
