import { defineOperation } from '../operation.ts';
import { linkQuestion, linkSummary, unlinkQuestion, unlinkSummary } from './text.ts';

export const linkOperation = defineOperation({
  id: 'link',
  kind: 'branch',
  work: async () => {
    const { applyLink, planLink } = await import('./link.ts');
    return { plan: planLink, apply: applyLink };
  },
  question: linkQuestion,
  summary: linkSummary,
});

export const unlinkOperation = defineOperation({
  id: 'unlink',
  kind: 'branch',
  work: async () => {
    const { applyUnlink, planUnlink } = await import('./unlink.ts');
    return { plan: planUnlink, apply: applyUnlink };
  },
  question: unlinkQuestion,
  summary: unlinkSummary,
});
