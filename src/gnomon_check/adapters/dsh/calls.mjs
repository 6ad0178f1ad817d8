// Which call is meant. DSH knows calls by their ids, and ids may repeat; the kit knows them by their positions.
//
// Calls start one at a time, each after it was logged. So an execution that is seen for the first time while it starts
// is that of the call that was logged last; and one that is seen for the first time while it settles is the one whose
// result comes next, for results go in order.

export class Calls {
  #known = new WeakMap(); // by execution
  #ofArguments = new WeakMap(); // by the frozen arguments, which are all that a renderer is given
  #lastBody = 0;

  constructor() {
    this.begin([]);
  }

  /** A batch is announced: of the calls of the one before nothing is left. */
  begin(announced) {
    /** The calls of the batch that were logged, by the number of their record. */
    this.logged = new Map();
    /** How many results of the batch were logged. */
    this.answered = 0;
    this.announced = announced;
    this.nested = new Map(); // by the id of a call that a body makes
  }

  /** A call was logged, under a number; answers its position. */
  log(seq) {
    const position = this.logged.size;
    this.logged.set(seq, position);
    return position;
  }

  /** The position of the call that starts. */
  get starting() {
    return Math.max(this.logged.size - 1, 0);
  }

  /** A body makes a call of this id, at this place. */
  nest(id, position) {
    this.nested.set(id, position);
  }

  /** The position of an execution that is prepared or dispatched. */
  ofStarting(execution) {
    return this.#of(execution, this.starting);
  }

  /** The position of an execution that is finalized, or observed. */
  ofSettling(execution) {
    return this.#of(execution, this.answered);
  }

  /** The position of an execution whose body begins. */
  ofBody(execution) {
    this.#lastBody = this.ofStarting(execution);
    return this.#lastBody;
  }

  /** The position of the call with these very arguments. */
  ofArguments(args) {
    return isObject(args) ? this.#ofArguments.get(args) : this.#lastBody;
  }

  /** Whether an execution is of a call that a body has made. */
  isNested({ callId }) {
    return this.nested.has(callId);
  }

  /** The position of the call that asks for an approval. */
  asking(callId) {
    return this.nested.get(callId) ?? this.starting;
  }

  /** The position of a call that is known by its id alone: the first of that id that was not answered. */
  unanswered(callId) {
    return this.announced.findIndex(({ id }, position) => id === callId && position >= this.answered);
  }

  #of(execution, position) {
    const known = this.#known.get(execution) ?? this.nested.get(execution.callId) ?? position;
    this.#known.set(execution, known);
    if (isObject(execution.arguments)) this.#ofArguments.set(execution.arguments, known);
    return known;
  }
}

function isObject(candidate) {
  return candidate !== null && typeof candidate === "object";
}
