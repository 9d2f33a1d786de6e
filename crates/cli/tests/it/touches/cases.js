// Runs touch.js beside a document, a location and a navigator that are made up, and compares the cookie and the beacons.
// usage: node cases.js touch.js
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");

const script = fs.readFileSync(process.argv[2], "utf8");
const NOW = 1719652678;
const DAY = 86400;
let cases = 0;

// A page: `jar` is the browser's cookies by name; gives the page's globals, what it sent, and how often each cookie was set.
function page({ url = "https://www.shop.example/", referrer = "", jar = {}, now = NOW, navigator = {} } = {}) {
  const sent = [];
  const set = [];
  const document = {
    referrer,
    currentScript: { src: "https://www.shop.example/seine/touch.js?v=1" },
    get cookie() {
      return Object.entries(jar).map(([name, value]) => name + "=" + value).join("; ");
    },
    set cookie(text) {
      const [pair, ...attributes] = text.split("; ");
      const at = pair.indexOf("=");
      jar[pair.slice(0, at)] = pair.slice(at + 1);
      set.push(attributes);
    },
  };
  const window = {
    document,
    location: { hostname: new URL(url).hostname, href: url },
    navigator: { sendBeacon: (to, body) => !!sent.push([to, JSON.parse(body)]), ...navigator },
    crypto: { getRandomValues: (array) => crypto.getRandomValues(array) },
    fetch: (to, options) => sent.push([to, JSON.parse(options.body), options]),
    Date: class extends Date {
      constructor(...given) { super(...(given.length ? given : [now * 1000 + 999])); }
      static now() { return now * 1000 + 999; }
    },
    Uint32Array,
  };
  window.window = window;
  vm.createContext(window);
  window.load = () => vm.runInContext(script, window);
  window.load();
  return Object.assign(window, { sent, set, jar });
}

function cookie(jar, name = "multitouch") {
  return jar[name] === undefined ? undefined : decodeURIComponent(jar[name]);
}

// One touch: what the cookie then has.
function touch(about, given, wanted) {
  const shown = page(given);
  shown.multitouch(given.subcat);
  assert.strictEqual(cookie(shown.jar), wanted, about);
  cases += 1;
  return shown;
}

const at = (url) => ({ url: "https://www.shop.example/" + url });
const from = (referrer) => ({ referrer });

// Channels.
touch("direct", {}, `direct!!!${NOW}`);
touch("a dash is no referrer", from("-"), `direct!!!${NOW}`);
touch("campaign", at("?utm_source=newsletter&utm_medium=email"), `newsletter!email!!${NOW}`);
touch("campaign behind another parameter", at("?a=b&utm_medium=email&utm_source=june#x"), `june!email!!${NOW}`);
touch("campaign without medium", at("?utm_source=june"), `june!!!${NOW}`);
touch("a campaign goes before its referrer", { ...at("?utm_source=june"), ...from("https://www.google.com/") }, `june!!!${NOW}`);
touch("names stand as in the address", at("?utm_source=fr%C3%BChling%20a&utm_medium=e+mail"), `fr%C3%BChling%20a!e+mail!!${NOW}`);
touch("separators are taken out", at("?utm_source=a!b*c&utm_medium=*"), `abc!-!!${NOW}`);
touch("ads of Google", at("?gclid=x&utm_source=june"), `adwords!cpc!!${NOW}`);
touch("subcategory", { subcat: "shoes" }, `direct!!shoes!${NOW}`);
touch("separators of a subcategory are taken out", { subcat: "a!b*c\n" }, `direct!!abc!${NOW}`);
touch("search with its words", from("https://www.google.de/search?q=shoes"), `google!organic!!${NOW}`);
touch("search without its words", from("https://www.google.com/"), `google!organic!!${NOW}`);
touch("search of a portal", from("https://de.search.yahoo.com/"), `yahoo!organic!!${NOW}`);
touch("a portal itself", from("https://www.yahoo.com/news"), `www.yahoo.com!referral!!${NOW}`);
touch("mail is no search", from("https://mail.google.com/mail"), `mail.google.com!referral!!${NOW}`);
touch("referral", from("https://blog.example:8080/post?q=x"), `blog.example:8080!referral!!${NOW}`);
touch("an app", from("android-app://com.example.mail/"), `com.example.mail!referral!!${NOW}`);

// Arrival only.
for (const inside of ["https://www.shop.example/cart", "http://www.shop.example:8080/", "https://m.www.shop.example/"]) {
  const shown = page(from(inside));
  assert.strictEqual(shown.multitouch(), "Internal", inside);
  assert.deepStrictEqual([shown.jar, shown.sent], [{}, []], inside);
  cases += 1;
}
touch("another site that ends alike", from("https://evilwww.shop.example/"), `evilwww.shop.example!referral!!${NOW}`);
{
  const shown = page(from("https://de.shop.example/"));
  shown._mtt = new shown.MultiTouchTracker({ cookie_domain: ".shop.example" });
  assert.strictEqual(shown.multitouch(), "Internal");
  assert.strictEqual(new shown.MultiTouchTracker({ allow_internal: true, cookie_domain: "shop.example" }).multitouch(), `de.shop.example!referral!!${NOW}`);
  assert.ok(shown.set[0].includes("domain=shop.example"));
  cases += 2;
}

// The record: newest first, orders among touches, 180 days, 2,048 characters.
{
  const jar = {};
  page({ jar, now: NOW - 2 * DAY, ...at("?utm_source=a") }).multitouch();
  page({ jar, now: NOW - DAY, ...from("https://b.example/") }).multitouch();
  const shown = page({ jar });
  assert.strictEqual(shown.multitouch_event("1042", "129.90", "EUR"), cookie(jar));
  const before = `b.example!referral!!${NOW - DAY}*a!!!${NOW - 2 * DAY}`;
  assert.strictEqual(cookie(jar), `__ORD!1042!129.90!${NOW}*${before}`);
  page({ jar, now: NOW + DAY, ...at("?utm_source=c") }).multitouch();
  assert.strictEqual(cookie(jar), `c!!!${NOW + DAY}*__ORD!1042!129.90!${NOW}*${before}`);
  page({ jar, now: NOW + 179.5 * DAY }).multitouch();
  assert.strictEqual(cookie(jar), `direct!!!${NOW + 179.5 * DAY}*c!!!${NOW + DAY}*__ORD!1042!129.90!${NOW}`, "180 days");
  const attributes = shown.set[0];
  const expires = new Date((NOW + 180 * DAY) * 1000).toUTCString();
  assert.deepStrictEqual(attributes, ["path=/", "samesite=lax", "expires=" + expires]);
  cases += 5;
}
{
  const jar = {};
  for (let k = 0; k < 100; k += 1) page({ jar, now: NOW + k, ...at(`?utm_source=source${k}&utm_medium=medium`) }).multitouch();
  const records = cookie(jar).split("*");
  assert.ok(cookie(jar).length <= 2048 && cookie(jar).length > 2000, "full");
  assert.strictEqual(records[0], `source99!medium!!${NOW + 99}`, "the oldest are dropped");
  assert.strictEqual(records.at(-1), `source${100 - records.length}!medium!!${NOW + 100 - records.length}`, "whole records");
  for (const size of ["max_cookie_size", "cookie_size"]) {
    const shown = page({ jar: { ...jar } });
    new shown.MultiTouchTracker({ [size]: 50 }).multitouch();
    assert.ok(cookie(shown.jar).length <= 50, size);
  }
  cases += 5;
}
for (const forged of ["%zz", "x", "!!!", "a!b!c!", "__ORD", "*", `a!b!c!${"9".repeat(3)}`]) {
  touch("a forged cookie: " + forged, { jar: { multitouch: forged } }, `direct!!!${NOW}`);
}
{
  const shown = touch("a cookie of 10 kB is cut", { jar: { multitouch: `a!b!c!${NOW}*`.repeat(700) } }, cookieOf10kB());
  assert.strictEqual(shown.sent.length, 1);
}
function cookieOf10kB() {
  let records = [`direct!!!${NOW}`].concat(Array(700).fill(`a!b!c!${NOW}`));
  while (records.join("*").length > 2048) records.pop();
  return records.join("*");
}
touch("a cookie of a like name is another", { jar: { xmultitouch: `a!b!c!${NOW}` } }, `direct!!!${NOW}`);
{
  const shown = page();
  new shown.MultiTouchTracker({ cookie_name: "mt", cookie_lifetime: 1 }).multitouch("x");
  assert.strictEqual(cookie(shown.jar, "mt"), `direct!!x!${NOW}`);
  assert.ok(shown.set[0].includes("expires=" + new Date((NOW + DAY) * 1000).toUTCString()));
  const other = page(from("https://find.example/?words=x"));
  const tracker = new other.MultiTouchTracker();
  tracker.addOrganic("find", "words", true);
  assert.strictEqual(tracker.multitouch(), `find!organic!!${NOW}`);
  cases += 3;
}

// Beacons: the same record as the cookie's, with an id of 63 bits.
{
  const shown = page({ ...at("?utm_source=a&utm_medium=b"), subcat: "c" });
  shown.multitouch("c");
  shown.multitouch_event(7, 12.5, "EUR");
  const [[to, told], [, order]] = shown.sent;
  assert.strictEqual(to, "https://www.shop.example/seine/touch");
  const { id, ...rest } = told;
  assert.match(id, /^[0-7][0-9a-f]{15}$/);
  assert.deepStrictEqual(rest, { source: "a", medium: "b", subcat: "c", time: NOW });
  const { id: other, ...ordered } = order;
  assert.deepStrictEqual(ordered, { order: "7", value: "12.5", currency: "EUR", time: NOW });
  assert.notStrictEqual(other, id);
  const full = page();
  full.crypto.getRandomValues = (array) => array.fill(0xffffffff);
  full.multitouch();
  assert.strictEqual(full.sent[0][1].id, "7fffffffffffffff");
  const least = page();
  least.crypto.getRandomValues = (array) => array.fill(1);
  least.multitouch();
  assert.strictEqual(least.sent[0][1].id, "0000000000000001");
  cases += 6;
}
{
  const shown = page();
  shown.load();
  shown.multitouch();
  shown.load();
  shown.multitouch();
  assert.strictEqual(cookie(shown.jar), `direct!!!${NOW}`, "loaded twice, counted once");
  assert.strictEqual(shown.sent.length, 1);
  shown.multitouch_event("1", "5");
  shown.multitouch_event("1", "5");
  shown.multitouch_event("2", "5");
  assert.strictEqual(shown.sent.length, 3);
  cases += 3;
}
{
  const shown = page({ navigator: { sendBeacon: () => false } });
  shown.multitouch();
  const [, told, options] = shown.sent[0];
  assert.strictEqual(told.source, "direct", "a beacon that finds no room goes another way");
  assert.deepStrictEqual([options.method, options.keepalive, options.credentials], ["POST", true, "include"]);
  cases += 2;
}
{
  const shown = page();
  shown._gaq = [];
  shown.multitouch();
  shown.multitouch_send_event("7", "5");
  assert.strictEqual(JSON.stringify(shown._gaq), JSON.stringify([["_trackEvent", "multitouch", "TID7", cookie(shown.jar)]]));
  cases += 1;
}

// Visitors who object.
{
  const shown = page({ navigator: { globalPrivacyControl: true } });
  assert.strictEqual(shown.multitouch(), "");
  assert.strictEqual(shown.multitouch_event("7", "5"), "");
  assert.deepStrictEqual([shown.jar, shown.sent], [{}, []]);
  const other = page({ navigator: { doNotTrack: "1" } });
  other.multitouch();
  assert.strictEqual(other.sent.length, 1, "DNT is respected only if it is asked for");
  cases += 2;
}
console.log(cases + " cases hold");
