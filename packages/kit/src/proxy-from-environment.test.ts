import { expect, it } from "vitest";
import { proxyFromEnvironment } from "./proxy-from-environment.ts";

const PROXY = "http://proxy.corp:3128";
const SERVER = "https://plane.example.com:7443";

it.each<[string, string, Readonly<Record<string, string>>, string | undefined]>([
  ["nothing is set", SERVER, {}, undefined],
  ["a proxy is set", SERVER, { HTTPS_PROXY: PROXY }, PROXY],
  ["in small letters", SERVER, { https_proxy: PROXY }, PROXY],
  ["without a scheme", SERVER, { HTTPS_PROXY: "proxy.corp:3128" }, PROXY],
  ["empty", SERVER, { HTTPS_PROXY: "" }, undefined],
  ["only for http", SERVER, { HTTP_PROXY: PROXY }, undefined],
  ["a server in the clear", "http://plane:80", { HTTPS_PROXY: PROXY }, undefined],
  ["this machine", "https://127.0.0.1:7443", { HTTPS_PROXY: PROXY }, undefined],
  ["this machine by name", "https://localhost:7443", { HTTPS_PROXY: PROXY }, undefined],
  ["this machine by IPv6", "https://[::1]:7443", { HTTPS_PROXY: PROXY }, undefined],
])("%s", (_name, server, environment, expected) => {
  expect(proxyFromEnvironment(server, environment)).toBe(expected);
});

it.each<[string, string, boolean]>([
  ["*", SERVER, true],
  ["example.com", SERVER, true],
  [".example.com", SERVER, true],
  ["plane.example.com", SERVER, true],
  [".plane.example.com", SERVER, false],
  ["ample.com", SERVER, false],
  ["other.com, EXAMPLE.com", SERVER, true],
  ["plane.example.com:7443", SERVER, true],
  ["plane.example.com:443", SERVER, false],
  ["10.0.0.0/8", "https://10.1.2.3:6443", true],
  ["10.0.0.0/16", "https://10.1.2.3:6443", false],
  ["10.1.2.3", "https://10.1.2.3:6443", true],
  ["10.1.2.3:443", "https://10.1.2.3", true],
  ["10.0.0.0/99", "https://10.1.2.3", false],
  ["[2001:db8::1]:7443", "https://[2001:db8::1]:7443", true],
  ["2001:db8::1", "https://[2001:db8::1]:7443", true],
  ["", SERVER, false],
])("NO_PROXY=%s for %s: direct is %s", (noProxy, server, isDirect) => {
  const environment = { HTTPS_PROXY: PROXY, NO_PROXY: noProxy };
  expect(proxyFromEnvironment(server, environment)).toBe(isDirect ? undefined : PROXY);
});
