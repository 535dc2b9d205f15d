/** Edit distance with neighbouring letters swapped counting as one step (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let steps = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped && row > 1 && column > 1) steps = Math.min(steps, at(beforeLast, column - 2) + 1);
      current.push(steps);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;

/** `pipelineId`, `pipeline-id` and `PIPELINE_ID` are one name to a reader. */
const plainLetters = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/gu, '');

/** Longer than any name of the pipeline file: such a text is no misspelling, and comparing it would take long. */
const LONGEST = 80;

/** The known name that was most likely meant, or undefined when none is near. */
export function nearest(found: string, known: readonly string[]): string | undefined {
  if (found.length > LONGEST) return undefined;
  return nearestOf(found, known, (name) => name) ?? nearestOf(found, known, firstWord);
}

/** People write `password` for `password_secret_ref`. Short first words would fit too much. */
const firstWord = (name: string): string => {
  const word = name.split('_')[0] ?? '';
  return word.length < 5 ? name : word;
};

function nearestOf(
  found: string,
  known: readonly string[],
  shorten: (name: string) => string,
): string | undefined {
  const letters = plainLetters(found);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(letters.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(letters, plainLetters(shorten(name)));
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}
