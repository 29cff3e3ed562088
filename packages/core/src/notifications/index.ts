export {
  type Answer,
  answerText,
  type Delivery,
  type Outcome,
  outcomeOf,
  OUTCOMES,
  withDelivery,
} from "./attempts.ts";
export {
  firstRecord,
  nextNotice,
  type NoticeRecord,
  type SeenWait,
  waitKey,
} from "./next-notice.ts";
export {
  NOTICE_EVENTS,
  type Notice,
  type NoticeEvent,
  noticeEvents,
  testNotice,
} from "./notice.ts";
export { formatStored, readStored, type StoredNotices } from "./stored.ts";
export { renderNotice, TEMPLATE_FIELDS, TEMPLATES, unknownField } from "./template.ts";
