// Speaks with the kit: one JSON object a line, each answered by one. It knows nothing of what is held to the
// specification, and serves an adapter for any other.
//
// Standard output belongs to the protocol. What is to be told to people goes to standard error.

/**
 * Answer the kit until it says bye. `manifest` says who the implementation is. `opened(scenario, line)` answers
 * `{run}`, which does what the kit asks, or `{cannot}`; `line` is the text that the scenario came in.
 */
export async function converse(manifest, opened) {
  let run;
  const answerTo = async ({ hello, open, do: asked, close, bye }, line) => {
    if (hello) return { hello: manifest };
    if (bye) return { bye: {} };
    if (open) {
      run?.end();
      run = undefined;
      const { run: made, cannot } = await opened(open.scenario, line);
      run = made;
      return cannot === undefined ? { ready: {} } : { cannot };
    }
    if (run === undefined) return { refused: { reason: "no scenario is open" } };
    if (close) run.finish();
    const refused = asked && (await run.do(asked.step, asked.value));
    return refused === undefined ? { quiet: await run.quiet() } : { refused: { reason: refused } };
  };
  for await (const line of linesOf(process.stdin)) {
    const { id, ...request } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ id, ...(await answerTo(request, line)) })}\n`);
    if (request.bye) break;
  }
}

/** The lines of a stream. A line ends with a line feed, and with nothing else. */
async function* linesOf(stream) {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const pieces = (rest + chunk).split("\n");
    rest = pieces.pop();
    yield* pieces;
  }
}
