import { createHash } from 'node:crypto';
import { headlineOf, type VerifiedHeadline } from '../../src/repository/headlines/headline.ts';
import { ManifestInvalid, parseManifest } from '../../src/repository/manifest/manifest.ts';
import { filesOf } from '../../src/repository/repository.ts';

/** The parts of a manifest that the hub needs. */
export interface ManifestSummary {
  /** With the state of the signature. */
  headline: VerifiedHeadline;
  /** Distinct objects, and the stored length of each. */
  sha256s: string[];
  storedBytes: number[];
  /** SHA-256 of the text. */
  sha256: string;
}

export type SummaryReply = { summary: ManifestSummary } | { invalid: string };

export function summarise(text: string): SummaryReply {
  try {
    const manifest = parseManifest(text);
    const sizes = new Map(filesOf(manifest).map((file) => [file.sha256, file.stored_bytes]));
    const sha256 = createHash('sha256').update(text).digest('hex');
    const objects = { sha256s: [...sizes.keys()], storedBytes: [...sizes.values()] };
    return { summary: { headline: headlineOf(manifest), ...objects, sha256 } };
  } catch (error) {
    if (error instanceof ManifestInvalid) return { invalid: error.message };
    throw error;
  }
}
