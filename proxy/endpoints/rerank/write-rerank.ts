/**
 * Writes a rerank call for an upstream of one dialect: the client's own body with the edits that the dialect needs
 * (docs/design/rerank.md 5).
 *
 * Documents of a converted response come from the request, so that only an upstream of the client's own form is asked
 * to repeat them.
 */
import type { WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import { GatewayError } from "#proxy/errors";
import { isAbsent } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { textOf } from "./documents.ts";
import type { RerankCall } from "./read-rerank.ts";

export type RerankDialectName = "Jina" | "Cohere" | "Voyage" | "TEI";

interface RequestForm {
  /** The member that holds the documents. */
  readonly documents: string;
  /** Documents must be strings. */
  readonly isTextOnly: boolean;
  /** The member for the number of results; undefined: the upstream always gives all, and the response is clipped. */
  readonly topN: string | undefined;
  readonly repeatsDocuments: boolean;
  readonly namesModel: boolean;
  /** Members of its own; undefined for a form that many servers extend: everything is passed. */
  readonly own: ReadonlySet<string> | undefined;
}

/** Of Cohere's request alone. */
const cohereMembers = new Set(["max_tokens_per_doc", "priority"]);

const forms: Readonly<Record<RerankDialectName, RequestForm>> = {
  Jina: {
    documents: "documents",
    isTextOnly: false,
    topN: "top_n",
    repeatsDocuments: true,
    namesModel: true,
    own: undefined,
  },
  Cohere: {
    documents: "documents",
    isTextOnly: true,
    topN: "top_n",
    repeatsDocuments: false,
    namesModel: true,
    own: cohereMembers,
  },
  Voyage: {
    documents: "documents",
    isTextOnly: true,
    topN: "top_k",
    repeatsDocuments: false,
    namesModel: true,
    own: new Set(["top_k", "truncation"]),
  },
  TEI: {
    documents: "texts",
    isTextOnly: true,
    topN: undefined,
    repeatsDocuments: false,
    namesModel: false,
    own: new Set(["truncate", "truncation_direction", "raw_scores"]),
  },
};

/** What the gateway itself says in each dialect, or does for the client. */
const commonMembers = new Set(["model", "query", "documents", "top_n", "return_documents"]);

/**
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`, and for an image where only texts are
 *   read: as text it would be paid for and say nothing
 */
export function writeRerank(call: RerankCall, dialect: RerankDialectName, plan: UpstreamPlan): WrittenCall {
  const form = forms[dialect];
  if (form.isTextOnly && call.inlineImage !== undefined) throw imageUnsupported(call.inlineImage);
  const foreign = foreignMembers(call, dialect);
  const [param] = foreign;
  if (param !== undefined && plan.channel.unsupportedParameters === "Reject") {
    throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model's provider.`, { param });
  }
  const edit = (editor: BodyEditor): void => {
    for (const name of foreign) editor.remove(name);
    editDocuments(editor, call, form);
    editTopN(editor, call, form);
    // A Cohere client that does not ask gets no documents, which Jina gives unasked.
    if (!form.repeatsDocuments) editor.remove("return_documents");
    else if (call.endpoint.shape === "Cohere" && call.wantsDocuments === undefined) {
      editor.set("return_documents", "false");
    }
  };
  const finish = form.namesModel ? undefined : (editor: BodyEditor): void => editor.remove("model");
  const written = editJsonBody(call.body, "Rerank", plan, edit, finish);
  return foreign.length === 0 ? written : { ...written, dropped: [...foreign, ...written.dropped] };
}

function imageUnsupported(param: string): GatewayError {
  return new GatewayError("unsupported_parameter", `'${param}' must hold no images for this model.`, { param });
}

/** Members that say nothing to the dialect. */
function foreignMembers({ body, endpoint }: RerankCall, dialect: RerankDialectName): readonly string[] {
  const { own } = forms[dialect];
  // What clients of one form add is a vendor's own, and passes to that form whoever serves it.
  if (endpoint.shape === dialect) return [];
  return body.members
    .filter(({ name, kind }) => {
      if (kind === "null" || commonMembers.has(name)) return false;
      return own === undefined ? cohereMembers.has(name) : !own.has(name);
    })
    .map(({ name }) => name);
}

function editDocuments(editor: BodyEditor, { query, documents, body }: RerankCall, form: RequestForm): void {
  if (form.isTextOnly && body.member("query")?.kind === "object") editor.set("query", JSON.stringify(textOf(query)));
  const text = form.isTextOnly && !documents.areTexts ? JSON.stringify(documents.texts()) : undefined;
  if (form.documents === "documents") {
    if (text !== undefined) editor.set("documents", text);
    return;
  }
  editor.set(form.documents, text ?? editor.text("documents") ?? "[]");
  editor.remove("documents");
}

/** Some servers refuse to give more results than there are documents. */
function editTopN(editor: BodyEditor, { topN, documents }: RerankCall, form: RequestForm): void {
  if (!editor.has("top_n")) return;
  const isAsked = !isAbsent(editor, "top_n");
  if (form.topN !== "top_n") editor.remove("top_n");
  if (form.topN === undefined || !isAsked) return;
  if (form.topN !== "top_n" || topN === documents.length) editor.set(form.topN, String(topN));
}
