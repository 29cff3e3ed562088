export {
  CHANNEL_PROTOCOL,
  channelMessage,
  CHANNELS,
  type CommandEnd,
  endStatus,
  readEndStatus,
} from "./channels.ts";
export {
  NORMAL_CLOSURE,
  type WebSocketFrame,
  webSocketFrame,
  type WebSocketMessage,
  WebSocketProblem,
  WebSocketReader,
} from "./websocket.ts";
