/** Defines the endpoint that speaks a text: `/v1/audio/speech`. */
import { estimateUnits } from "#proxy/admit/estimate-units";
import type { SettlementContext } from "#proxy/dispatch/reservations/settle-call";
import { UnitSettlement } from "#proxy/dispatch/reservations/settle-units";
import { eventWriter, wholeWriter } from "#proxy/endpoints/dialects/open-ai-writer";
import { serveDialects } from "#proxy/endpoints/dialects/serve-dialects";
import type { CallEndpoint } from "#proxy/endpoints/endpoint";
import { openAIPath } from "#proxy/endpoints/open-ai-path";
import type { CallPath } from "#proxy/neutral/wire";
import { checkMemberRules } from "#proxy/parameters/member-rules";
import { readSpeech, type SpeechCall } from "./read-speech.ts";
import { typeOfFormat } from "./sound-types.ts";
import { isLengthPriced, SpeechCounter, speechNeeds } from "./speech-counter.ts";
import { speechDialects, speechFormats } from "./speech-dialects.ts";

export const speech: CallEndpoint<CallPath, SpeechCall> = {
  name: "speech",
  capability: "Speech",
  channelFormats: speechFormats,
  body: "json",
  paths: [openAIPath("/v1/audio/speech", { protocol: "OpenAI", format: "Speech", capability: "Speech" })],
  metricFormat: ({ format }) => format,
  read: readSpeech,
  checkParameters: ({ body }, route) => checkMemberRules(body, route),
  need: ({ call, route, snapshot }) => ({ amounts: estimateUnits(speechNeeds(call, snapshot.fleet), route.price) }),
  settlement: (context: SettlementContext<SpeechCall>) => new UnitSettlement(context, new SpeechCounter(context)),
  serve: (admitted) => {
    const { call, route, services } = admitted;
    const { eventBytesMax } = services.limits;
    const dialects = speechDialects({ eventBytesMax, isMeasured: isLengthPriced(route.price) });
    return serveDialects(admitted, dialects, call.wantsEvents ? eventWriter : wholeWriter(typeOfFormat(call.format)));
  },
};
