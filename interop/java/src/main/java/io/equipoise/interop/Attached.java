package io.equipoise.interop;

import java.util.Map;
import java.util.TreeMap;
import org.apache.dubbo.rpc.RpcContext;

/** Attachments, by calls that every release knows. */
final class Attached {
    private Attached() {}

    /** What came with the request that this thread serves. */
    static Map<String, String> ofRequest() {
        return texts(RpcContext.getContext().getObjectAttachments());
    }

    /** What came with the response to this thread's last call. */
    static Map<String, String> ofResponse() {
        return texts(RpcContext.getServerContext().getObjectAttachments());
    }

    private static Map<String, String> texts(Map<String, Object> attachments) {
        Map<String, String> texts = new TreeMap<>();
        for (Map.Entry<String, Object> entry : attachments.entrySet()) {
            Object value = entry.getValue();
            texts.put(entry.getKey(), value instanceof String ? (String) value : Describe.text(value));
        }
        return texts;
    }
}
