import type { PartName } from './layout.ts';
import type { Shell } from './shell.ts';
import type { ToolName, Toolchain } from './toolchain.ts';

/** One thing that `npm run services` installs, whole or not at all. */
export interface Part {
  readonly name: PartName;
  /** For the list: what tests get from it. */
  readonly what: string;
  readonly tools: readonly ToolName[];
  /** Fills the part's folder, which is empty when this is called. The caller stamps it afterwards. */
  readonly install: (tools: Toolchain, shell: Shell) => Promise<void>;
}
