// Records where visitors come from, and orders. docs/attribution.md tells of it. Indents and such lines are not sent.
(function (w, d, n) {
  if (w.MultiTouchTracker) return;
  let at = d.currentScript && d.currentScript.src.replace(/touch\.js([?#].*)?$/, "touch"),
    off = (GPC && n.globalPrivacyControl) || (DNT && n.doNotTrack == "1"),
    told = {},
    // Name of a search engine, parameter of the words, and 1 if its site has searches alone.
    known = "google:q:1 bing:q:1 duckduckgo:q:1 ecosia:q:1 yandex:text:1 baidu:wd:1 qwant:q:1 startpage:query:1 " +
      "yahoo:p brave:q aol:q ask:q msn:q naver:query daum:q seznam:q";

  function T(o) {
    o = o || {};
    this.cookie_domain = o.cookie_domain || location.hostname;
    this.cookie_name = o.cookie_name || "multitouch";
    this.cookie_lifetime = o.cookie_lifetime || 180;
    this.max_cookie_size = o.max_cookie_size || o.cookie_size || 2048;
    this.allow_internal = o.allow_internal;
    this.engines = known.split(" ").map(e => e.split(":"));
  }
  let p = T.prototype,
    clean = (text, most) => String(text == null ? "" : text).replace(/[!*\x00-\x1f\x7f-\x9f]/g, "").slice(0, most),
    hostOf = url => (/^[\w-]+:\/\/([^\/?#]+)/.exec(url) || ["", ""])[1],
    parameter = (url, name) => {
      let found = RegExp("[&?]" + name + "=([^&#]+)").exec(url);
      return found && (clean(found[1], 80) || "-");
    };

  p.addOrganic = function (name, words, first) {
    this.engines[first ? "unshift" : "push"]([name, words]);
  };

  p.isOrganic = function (url) {
    let host = hostOf(url), e;
    for (e of this.engines) {
      if (host.includes(e[0]) && (parameter(url, e[1]) || RegExp("(^|\\.)search\\." + e[0] + "\\.").test(host) ||
        e[2] && RegExp("^(www\\.|m\\.)?" + e[0] + "\\.").test(host))) return e[0];
    }
    return false;
  };

  p.multitouch = function (subcat, ref, url) {
    ref = ref === undefined ? d.referrer : ref;
    url = url || location.href;
    let host = "." + hostOf(ref).replace(/:\d*$/, ""), source = parameter(url, "utm_source"), medium = "";
    if (!this.allow_internal && host[1] && host.endsWith("." + this.cookie_domain.replace(/^\./, ""))) return "Internal";
    if (parameter(url, "gclid")) {
      source = "adwords";
      medium = "cpc";
    } else if (source) {
      medium = (parameter(url, "utm_medium") || "").slice(0, 40);
    } else if (host[1]) {
      source = this.isOrganic(ref);
      medium = source ? "organic" : "referral";
      source = source || clean(hostOf(ref), 80);
    } else source = "direct";
    subcat = clean(subcat, 40);
    return this.record([source, medium, subcat], { source, medium, subcat });
  };

  p.multitouch_event = function (order, value, currency) {
    order = clean(order, 40);
    value = clean(value, 40);
    return this.record(["__ORD", order, value], { order, value, currency });
  };

  p.record = function (fields, body) {
    if (off) return "";
    let name = this.cookie_name + "=", now = Math.floor(Date.now() / 1e3), life = this.cookie_lifetime * 86400, held = "", all, r;
    for (r of d.cookie.split(/; */)) {
      try {
        if (r.startsWith(name)) held = decodeURIComponent(r.slice(name.length));
      } catch (e) {}
    }
    // The same touch or order of one page counts once.
    fields = fields.join("!");
    if (told[name + fields]) return held;
    told[name + fields] = 1;
    all = [fields + "!" + now].concat(held.split("*").filter(r => r.split("!").pop() > now - life));
    held = all.join("*");
    while (all.join("*").length > this.max_cookie_size) all.pop();
    d.cookie = name + encodeURIComponent(all.join("*")) + "; path=/; samesite=lax; expires=" + new Date((now + life) * 1e3).toUTCString() +
      (this.cookie_domain != location.hostname ? "; domain=" + this.cookie_domain : "");
    r = w.crypto.getRandomValues(new Uint32Array(2));
    body.time = now;
    body.id = [r[0] >>> 1, r[1]].map(x => x.toString(16).padStart(8, 0)).join("");
    body = JSON.stringify(body);
    if (at && !(n.sendBeacon && n.sendBeacon(at, body))) fetch(at, { method: "POST", body, keepalive: true, credentials: "include" });
    return held;
  };

  let tracker = () => w._mtt = w._mtt || new T();
  w.MultiTouchTracker = T;
  w.multitouch = subcat => tracker().multitouch(subcat);
  w.multitouch_event = (tid, rev, currency) => tracker().multitouch_event(tid, rev, currency);
  w.multitouch_send_event = (tid, rev, currency) => {
    let label = w.multitouch_event(tid, rev, currency);
    if (w._gaq) w._gaq.push(["_trackEvent", "multitouch", "TID" + tid, label]);
  };
})(window, document, navigator);
