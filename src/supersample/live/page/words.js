// Numbers and times as people read them.

export function amount(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(places, 20) });
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share === 0) return "0%";
  if (share < 0.001) return "under 0.1%";
  return share < 0.1 ? `${(100 * share).toFixed(1)}%` : `${Math.round(100 * share).toLocaleString("en-US")}%`;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`;
}

// A time of the stream: ISO text in UTC, or a number of a stream that counts.
export function when(time) {
  if (time === null || time === undefined) return "–";
  if (typeof time === "number") return time.toLocaleString("en-US");
  const text = time.replace("T", " ").replace(/Z$/, "").replace(/\.\d+$/, "");
  return text.endsWith(":00") && text.length === 19 ? text.slice(0, 16) : text;
}

// A moment on the clock of the service, in seconds since 1970.
export function moment(seconds) {
  return seconds === null || seconds === undefined ? "–" : new Date(1000 * seconds).toISOString().slice(0, 19).replace("T", " ");
}

// A time of the stream as a number, and back to what the service takes.
export function place(time) {
  return typeof time === "string" ? Date.parse(time) / 1000 : time;
}

export function timeOf(number, counted) {
  return counted ? number : new Date(1000 * number).toISOString();
}

export function span(seconds, counted) {
  if (counted) return count(seconds, "unit");
  for (const [name, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= size && seconds % size === 0) return seconds === size ? name : count(seconds / size, name);
  }
  return count(seconds, "second");
}

// A value of a row.
export function value(given) {
  if (given === null || given === undefined) return "–";
  if (typeof given === "number") return Number.isInteger(given) ? String(given) : amount(given, 5);
  if (typeof given === "string") return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(given) ? when(given) : given;
  return JSON.stringify(given);
}

export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
